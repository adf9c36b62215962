//! Loads the object for this kernel: offsets and sizes set, programs attached, slots mapped.

use std::collections::HashMap;

use aya::{
    Ebpf, EbpfLoader,
    maps::{Array, Map, MapData, MapError, PerCpuArray, RingBuf, Stack},
    programs::{BtfTracePoint, FExit, ProgramError},
};

use super::{EbpfSource, btf, field, hook, slots, walk};
use crate::kernel;
use crate::source::{HookState, whole};
use crate::units::Instant;

pub(super) static OBJECT: &[u8] = aya::include_bytes_aligned!(concat!(env!("OUT_DIR"), "/tcpwin"));

/// Where the kernel's BTF is.
const BTF_PATH: &str = "/sys/kernel/btf/vmlinux";

/// Sizes.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions {
    /// Most sockets watched at a time.
    pub slots: u32,
}

/// Why the probes are not in place.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// No BTF to take offsets from.
    #[error("cannot read the kernel's BTF at {BTF_PATH}: {0}")]
    ReadBtf(std::io::Error),
    /// BTF of no use.
    #[error(transparent)]
    Btf(#[from] btf::BtfError),
    /// The object is not as we built it.
    #[error(transparent)]
    Field(#[from] field::FieldError),
    /// The kernel refused the object or its maps.
    #[error("cannot load the kernel programs: {0}")]
    Object(#[from] aya::EbpfError),
    /// aya's own look at BTF failed.
    #[error("cannot use the kernel's BTF: {0}")]
    AyaBtf(#[from] aya::BtfError),
    /// A map is not as expected.
    #[error("map {name}: {cause}")]
    Map {
        /// Its name.
        name: &'static str,
        /// What the kernel or aya said.
        cause: String,
    },
    /// A hook without which nothing can be seen.
    #[error("cannot attach {hook}: {cause}")]
    Hook {
        /// Its name.
        hook: &'static str,
        /// What the kernel said.
        cause: String,
    },
}

fn map_error(name: &'static str) -> impl FnOnce(MapError) -> LoadError {
    move |cause| LoadError::Map {
        name,
        cause: cause.to_string(),
    }
}

fn take(ebpf: &mut Ebpf, name: &'static str) -> Result<Map, LoadError> {
    ebpf.take_map(name).ok_or_else(|| LoadError::Map {
        name,
        cause: "not in the object".to_owned(),
    })
}

fn array(ebpf: &mut Ebpf, name: &'static str) -> Result<MapData, LoadError> {
    match take(ebpf, name)? {
        Map::Array(array) => Ok(array),
        _ => Err(LoadError::Map {
            name,
            cause: "not an array".to_owned(),
        }),
    }
}

pub(super) fn open(options: &LoadOptions) -> Result<EbpfSource, LoadError> {
    let bytes = std::fs::read(BTF_PATH).map_err(LoadError::ReadBtf)?;
    let btf = btf::Btf::parse(&bytes)?;
    let offsets = btf.offsets()?;
    let have_cookie_helper = u32::from(btf.has_function("bpf_get_socket_ptr_cookie"));
    let have_cong_state_set = u32::from(btf.has_tracepoint("tcp_cong_state_set"));
    let object = field::place(OBJECT, &offsets)?;
    let aya_btf = aya::Btf::from_sys_fs()?;

    let mut ebpf = EbpfLoader::new()
        .btf(Some(&aya_btf))
        .override_global("OFFSETS", &offsets, true)
        .override_global("HAVE_COOKIE_HELPER", &have_cookie_helper, false)
        .override_global("HAVE_CONG_STATE_SET", &have_cong_state_set, false)
        .map_max_entries("SLOTS", options.slots)
        .map_max_entries("BESIDE", options.slots)
        .map_max_entries("SOCKETS", options.slots)
        .map_max_entries("FREE_SLOTS", options.slots)
        .load(&object)?;

    // Free slots before any program runs; the lowest index on top, so that slots in use stay close together.
    let mut free: Stack<_, u32> =
        Stack::try_from(take(&mut ebpf, "FREE_SLOTS")?).map_err(map_error("FREE_SLOTS"))?;
    for index in (0..options.slots).rev() {
        free.push(index, 0).map_err(map_error("FREE_SLOTS"))?;
    }
    let slots = slots::Slots::new(
        array(&mut ebpf, "SLOTS")?,
        array(&mut ebpf, "BESIDE")?,
        options.slots as usize,
    )
    .map_err(|cause| LoadError::Map {
        name: "SLOTS",
        cause: cause.to_string(),
    })?;
    let events = RingBuf::try_from(take(&mut ebpf, "EVENTS")?).map_err(map_error("EVENTS"))?;
    let counts = PerCpuArray::try_from(take(&mut ebpf, "COUNTS")?).map_err(map_error("COUNTS"))?;
    let high_water =
        PerCpuArray::try_from(take(&mut ebpf, "HIGH_WATER")?).map_err(map_error("HIGH_WATER"))?;
    let wanted = Array::try_from(take(&mut ebpf, "WANTED")?).map_err(map_error("WANTED"))?;

    let logger = match aya_log::EbpfLogger::init(&mut ebpf) {
        Ok(logger) => Some(logger),
        Err(error) => {
            tracing::debug!("the programs' own log is off: {error}");
            None
        }
    };

    let mut walker = walk::Walker::open(&mut ebpf, &aya_btf);
    let mut hooks = Vec::new();
    for hook in hook::HOOKS.iter().filter(|hook| hook.is_wanted(&btf)) {
        let missing = if hook.exists(&btf) {
            attach(&mut ebpf, hook, &aya_btf).err().map(|error| whole(&error))
        } else {
            Some("this kernel does not have it".to_owned())
        };
        let missing = match (missing, hook.loss) {
            (Some(_), Some(_)) if !hook.exists(&btf) && hook.has_substitute() => continue,
            (Some(cause), None) => {
                return Err(LoadError::Hook {
                    hook: hook.target,
                    cause,
                });
            }
            (Some(cause), Some(loss)) => Some(format!("{loss} ({cause})")),
            (None, _) => None,
        };
        hooks.push(HookState {
            hook: hook.target.to_owned(),
            missing,
        });
    }
    hooks.push(HookState {
        hook: "iter/tcp".to_owned(),
        missing: walker.missing(),
    });
    if let Some(lack) = kernel::against_namespaces(kernel::effective_capabilities()) {
        hooks.push(HookState {
            hook: "iter/tcp in other network namespaces".to_owned(),
            missing: Some(format!(
                "connections older than tcpwin are not seen there ({lack})"
            )),
        });
    }
    walker.discover(Instant(0));

    Ok(EbpfSource {
        ebpf,
        slots,
        events,
        counts,
        high_water,
        wanted,
        logger,
        hooks,
        walker,
        seen: Vec::new(),
        quiet: Vec::new(),
        gone: HashMap::new(),
        undecoded: 0,
        watched: HashMap::new(),
        samples: Vec::new(),
        misses: super::miss::Misses::default(),
        settle_after: HashMap::new(),
    })
}

fn attach(ebpf: &mut Ebpf, hook: &hook::Hook, btf: &aya::Btf) -> Result<(), ProgramError> {
    let Some(program) = ebpf.program_mut(hook.program) else {
        return Err(ProgramError::NotLoaded);
    };
    match hook.kind {
        hook::Kind::Tracepoint => {
            let program: &mut BtfTracePoint = program.try_into()?;
            program.load(hook.target, btf)?;
            program.attach()?;
        }
        hook::Kind::Exit => {
            let program: &mut FExit = program.try_into()?;
            program.load(hook.target, btf)?;
            program.attach()?;
        }
    }
    Ok(())
}
