use super::*;

fn able() -> Facts {
    Facts {
        release_text: "6.1.0-18-amd64".to_owned(),
        release: Some(Release(6, 1)),
        capabilities: CapabilitySet::all(),
        btf: true,
        bpf: Bpf::Allowed,
        lockdown: Some("integrity".to_owned()),
        memlock: None,
        sock_diag: None,
    }
}

fn with(change: impl FnOnce(&mut Facts)) -> Facts {
    let mut facts = able();
    change(&mut facts);
    facts
}

fn auto(facts: &Facts) -> (SourceKind, Option<String>) {
    let choice = decide(None, facts).unwrap();
    (choice.kind, choice.reason)
}

#[test]
fn the_probes_run_where_they_can() {
    assert_eq!(auto(&able()), (SourceKind::Ebpf, None));
    // CAP_BPF and CAP_PERFMON are enough.
    let facts = with(|facts| facts.capabilities = CapabilitySet::BPF | CapabilitySet::PERFMON);
    assert_eq!(auto(&facts), (SourceKind::Ebpf, None));
}

#[test]
fn each_lack_of_the_probes_is_named_with_its_remedy() {
    let cases: [(Facts, &str, LackKind); 8] = [
        (
            with(|facts| facts.capabilities = CapabilitySet::empty()),
            "the process lacks CAP_BPF and CAP_PERFMON; run as root, or grant CAP_BPF and CAP_PERFMON",
            LackKind::Privilege,
        ),
        (
            with(|facts| facts.capabilities = CapabilitySet::BPF),
            "the process lacks CAP_PERFMON;",
            LackKind::Privilege,
        ),
        (
            with(|facts| facts.btf = false),
            "/sys/kernel/btf/vmlinux is not there",
            LackKind::Kernel,
        ),
        (
            with(|facts| facts.bpf = Bpf::Denied),
            "a seccomp filter or a security module forbids bpf()",
            LackKind::Privilege,
        ),
        (
            with(|facts| {
                facts.bpf = Bpf::Denied;
                facts.lockdown = Some("confidentiality".to_owned());
            }),
            "lockdown=confidentiality",
            LackKind::Privilege,
        ),
        (
            with(|facts| facts.bpf = Bpf::Missing),
            "no bpf() system call",
            LackKind::Kernel,
        ),
        (
            with(|facts| {
                facts.release_text = "4.19.0-26-amd64".to_owned();
                facts.release = Some(Release(4, 19));
            }),
            "kernel 4.19.0-26-amd64 is older than 5.10",
            LackKind::Kernel,
        ),
        (
            with(|facts| {
                facts.release_text = "5.10.0-28-amd64".to_owned();
                facts.release = Some(Release(5, 10));
                facts.capabilities = CapabilitySet::BPF | CapabilitySet::PERFMON;
                facts.memlock = Some(64 << 10);
            }),
            "RLIMIT_MEMLOCK",
            LackKind::Privilege,
        ),
    ];
    for (facts, said, kind) in cases {
        let (source, reason) = auto(&facts);
        assert_eq!(source, SourceKind::SockDiag);
        let reason = reason.unwrap();
        assert!(reason.contains(said), "{reason}");
        let Err(KernelError::Refused { source_kind, lack }) = decide(Some(SourceKind::Ebpf), &facts) else {
            panic!("asked for by name, what cannot run is an error");
        };
        assert_eq!((source_kind, lack.kind), (SourceKind::Ebpf, kind));
    }
}

#[test]
fn memlock_counts_only_before_5_11() {
    let facts = with(|facts| {
        facts.release = Some(Release(5, 11));
        facts.memlock = Some(0);
        facts.capabilities = CapabilitySet::SYS_ADMIN;
    });
    assert_eq!(auto(&facts), (SourceKind::Ebpf, None));
}

#[test]
fn no_source_at_all_is_an_error_that_tells_both_reasons() {
    let facts = with(|facts| {
        facts.btf = false;
        facts.sock_diag = Some("Protocol not supported".to_owned());
    });
    let error = decide(None, &facts).unwrap_err();
    assert_eq!(error.kind(), LackKind::Kernel);
    let text = error.to_string();
    assert!(
        text.contains("BTF") && text.contains("Protocol not supported"),
        "{text}"
    );
    let error = decide(Some(SourceKind::SockDiag), &facts).unwrap_err();
    assert!(
        error.to_string().starts_with("source sock_diag cannot run"),
        "{error}"
    );
}

#[test]
fn asked_for_by_name_the_fallback_says_so() {
    let choice = decide(Some(SourceKind::SockDiag), &able()).unwrap();
    assert_eq!(choice.reason.as_deref(), Some("sock_diag was asked for by name"));
}

#[test]
fn what_an_unprivileged_user_lacks() {
    let facts = with(|facts| facts.capabilities = CapabilitySet::empty());
    let lacking: Vec<&str> = capabilities(&facts)
        .into_iter()
        .filter(|capability| capability.lack.is_some())
        .map(|capability| capability.name)
        .collect();
    assert_eq!(
        lacking,
        [
            "kernel probes",
            "other network namespaces",
            "processes of other users"
        ]
    );
    assert!(
        capabilities(&able())
            .iter()
            .all(|capability| capability.lack.is_none())
    );
}

#[test]
fn releases_and_lockdown_are_read() {
    assert_eq!(Release::parse("6.18.44-cloud"), Some(Release(6, 18)));
    assert_eq!(Release::parse("7.0-rc1"), Some(Release(7, 0)));
    assert_eq!(Release::parse("next"), None);
    assert_eq!(
        facts::lockdown("none [integrity] confidentiality\n").as_deref(),
        Some("integrity")
    );
}

#[test]
fn this_system_answers() {
    let facts = Facts::gather();
    assert!(facts.release.is_some());
    assert_eq!(facts.sock_diag, None);
}
