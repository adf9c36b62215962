//! What a process holds in the kernel's BPF subsystem.

use std::collections::BTreeSet;
use std::fs;

use aya::maps::loaded_maps;
use aya::programs::{loaded_links, loaded_programs};

/// Ids, which the kernel does not give twice in a row.
#[derive(Debug, Default)]
pub struct Footprint {
    pub programs: BTreeSet<u32>,
    pub maps: BTreeSet<u32>,
    pub links: BTreeSet<u32>,
}

impl Footprint {
    /// What the open files of the process are, and the maps of its programs.
    pub fn of(pid: u32) -> Self {
        let mut found = Self::default();
        for entry in fs::read_dir(format!("/proc/{pid}/fdinfo")).expect("the process lives") {
            // One that it closes meanwhile is none of these.
            let Ok(text) = fs::read_to_string(entry.expect("/proc").path()) else {
                continue;
            };
            let field = |name: &str| {
                let value = text.lines().find_map(|line| line.strip_prefix(name))?;
                value.trim().parse::<u32>().ok()
            };
            // That of a link names its program as well.
            match (field("link_id:"), field("prog_id:"), field("map_id:")) {
                (Some(link), _, _) => found.links.insert(link),
                (_, Some(program), _) => found.programs.insert(program),
                (_, _, Some(map)) => found.maps.insert(map),
                _ => false,
            };
        }
        for program in loaded_programs() {
            // Programs of others end while they are listed.
            let Ok(program) = program else { continue };
            if found.programs.contains(&program.id()) {
                let maps = program.map_ids().expect("root may ask").unwrap_or_default();
                found.maps.extend(maps);
            }
        }
        found
    }

    pub fn len(&self) -> usize {
        self.programs.len() + self.maps.len() + self.links.len()
    }

    pub fn add(&mut self, other: Self) {
        self.programs.extend(other.programs);
        self.maps.extend(other.maps);
        self.links.extend(other.links);
    }

    /// What of it the kernel still has.
    pub fn remaining(&self) -> Option<Self> {
        let programs = loaded_programs().flatten().map(|info| info.id()).collect();
        let maps = loaded_maps().flatten().map(|info| info.id()).collect();
        let links = loaded_links().flatten().map(|info| info.id()).collect();
        let both =
            |mine: &BTreeSet<u32>, loaded: &BTreeSet<u32>| mine.intersection(loaded).copied().collect();
        let remains = Self {
            programs: both(&self.programs, &programs),
            maps: both(&self.maps, &maps),
            links: both(&self.links, &links),
        };
        (remains.len() > 0).then_some(remains)
    }
}
