//! All scenes together.

use anyhow::Result;

use super::cast::CAST;
use super::scene::Scene;

/// The scenes that run; they end when this is dropped.
#[derive(Default)]
pub struct Play {
    scenes: Vec<Scene>,
    begun: usize,
    faults: Vec<String>,
}

impl Play {
    /// Begins the next scene, and keeps those that run going. A scene that fails is left out, and why is kept.
    pub fn go_on(&mut self) {
        if let Some(part) = CAST.get(self.begun) {
            self.begun += 1;
            match Scene::begin(*part) {
                Ok(scene) => self.scenes.push(scene),
                Err(error) => self.faults.push(format!("{error:#}")),
            }
        }
        let faults = &mut self.faults;
        self.scenes.retain_mut(|scene| match scene.go_on() {
            Ok(()) => true,
            Err(error) => {
                faults.push(format!("{error:#}"));
                false
            }
        });
    }

    /// Every scene has begun, or failed to.
    pub fn is_complete(&self) -> bool {
        self.begun == CAST.len()
    }

    /// Those that run.
    pub fn scenes(&self) -> &[Scene] {
        &self.scenes
    }

    /// What could not be shown.
    pub fn into_faults(self) -> Vec<String> {
        self.faults
    }
}

/// Each limit and the namespace in which it is to be seen.
pub fn wanted(play: &Play) -> Result<Vec<(String, u64)>> {
    play.scenes()
        .iter()
        .map(|scene| Ok((scene.limit()?, scene.judged_in()?)))
        .collect()
}
