//! What of the inputs is written down, and how.

use super::anonymise::Mask;
use super::header::About;
use super::input::Input;
use crate::observation::Key;
use crate::source::Update;

/// All as it is by default.
#[derive(Debug, Default)]
pub struct Choice {
    /// With other addresses.
    pub mask: Option<Mask>,
    /// Only of these network namespaces; of all where there is none.
    pub only: Vec<u32>,
}

impl Choice {
    /// If nothing is left out or turned.
    pub(super) const fn is_all(&self) -> bool {
        self.mask.is_none() && self.only.is_empty()
    }

    pub(super) fn about(&self, about: About) -> About {
        match &self.mask {
            Some(mask) => mask.about(about),
            None => about,
        }
    }

    /// The input as it is written; `None` where it is not.
    pub(super) fn input(&mut self, input: Input) -> Option<Input> {
        if !self.only.is_empty() && !namespace(&input).is_none_or(|netns| self.only.contains(&netns)) {
            return None;
        }
        Some(match &mut self.mask {
            Some(mask) => mask.input(input),
            None => input,
        })
    }
}

/// Of which namespace it tells; `None` where it is not of one.
fn namespace(input: &Input) -> Option<u32> {
    let key: Key = match input {
        Input::Update(update) => match &**update {
            Update::Observed(observation) | Update::Closed(observation) => observation.key,
            Update::Vanished { key, .. }
            | Update::Retransmit { key, .. }
            | Update::CwndFall { key, .. }
            | Update::Reset { key, .. } => *key,
        },
        Input::Owner { key, .. } => *key,
        Input::Kept(kept) => kept.last.key,
        Input::Links { own, .. } => return Some(*own),
        Input::Settings { netns, .. } => return Some(*netns),
        Input::Tick { .. }
        | Input::Hooks(_)
        | Input::Losses(_)
        | Input::Facts(_)
        | Input::Laid(_)
        | Input::Resume(_) => return None,
    };
    Some(key.netns)
}
