//! What stands when a segment begins, beside the connections: the last of each input that is told only when it changes.

use std::collections::BTreeMap;

use super::input::Input;

/// Namespaces whose settings are remembered; a host with more tells them again within half a minute.
const NAMESPACES: usize = 1_024;

/// The last of each.
#[derive(Debug, Default)]
pub(super) struct Standing {
    links: Option<Input>,
    settings: BTreeMap<u32, Input>,
    hooks: Option<Input>,
    losses: Option<Input>,
    facts: Option<Input>,
    laid: Option<Input>,
}

impl Standing {
    /// Remembers it; says if it tells anything new.
    pub(super) fn note(&mut self, input: &Input) -> bool {
        let place = match input {
            Input::Links { .. } => &mut self.links,
            Input::Hooks(_) => &mut self.hooks,
            Input::Losses(_) => &mut self.losses,
            Input::Facts(_) => &mut self.facts,
            Input::Laid(_) => &mut self.laid,
            Input::Settings { netns, .. } => {
                if self.settings.len() >= NAMESPACES {
                    self.settings.clear();
                }
                self.settings.insert(*netns, input.clone());
                return true;
            }
            _ => return true,
        };
        let is_new = place.as_ref() != Some(input);
        if is_new {
            *place = Some(input.clone());
        }
        // The table is told its links each time, new or not.
        is_new || matches!(input, Input::Links { .. } | Input::Laid(_))
    }

    /// What comes before the connections.
    pub(super) fn first(&self) -> impl Iterator<Item = &Input> {
        let shown = [&self.hooks, &self.losses, &self.facts];
        let of_table = self.links.iter().chain(self.settings.values());
        of_table.chain(shown.into_iter().flatten())
    }

    /// What comes after them: it lays the first snapshot.
    pub(super) fn last(&self) -> Option<&Input> {
        self.laid.as_ref()
    }
}
