//! A person at `tcpwin top`: finds the window-bound connection among live flows, reads why, copies the fix, and gets the
//! terminal back, however the screen ends.

mod tmux;

use std::net::IpAddr;

use anyhow::{Result, bail, ensure};

use crate::lab::net::Side;
use crate::lab::run::lay_out;
use crate::lab::scenario::Scenario;
use crate::lab::traffic::Traffic;
use crate::paths;
use crate::suites::Context;
use crate::suites::report::Recorder;

use tmux::{Person, is_gone};

/// The flow that is looked for: a peer without window scaling, far away.
const SCENARIO: &str = "rwnd_scale_181ms";
/// What the shell writes when it waits for a line.
const PROMPT: &str = "shell>";

/// Runs it.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    let Some(program) = paths::program("tmux") else {
        return recorder.skip("a person at the screen", "tmux is not installed");
    };
    let scenario = Scenario::named(SCENARIO)?;
    let (net, _beside) = lay_out(&scenario)?;
    let peer = net.address(Side::Receiver, false);
    let flow = Traffic::start(&net, &scenario)?;
    let mut person = Person::sit_down(&program, flow, PROMPT)?;
    let top = format!("{} top", context.programs.tcpwin.display());

    find_and_fix(&mut person, &top)?;
    recorder.pass("finds the connection, reads why, copies the fix", "")?;
    look_around(&mut person, peer)?;
    recorder.pass("goes from view to view and back", "")?;
    pull_and_push(&mut person)?;
    recorder.pass("survives a small screen and a stop", "")?;
    leave(&mut person)?;
    recorder.pass("gives the terminal back", "")?;
    lose_the_terminal(person, &top)?;
    recorder.pass("ends with its terminal", "")
}

fn find_and_fix(person: &mut Person, top: &str) -> Result<()> {
    person.line(top)?;
    person.sees("the finding", |screen| {
        screen.contains("findings") && screen.contains("tcp_window_scaling")
    })?;
    person.keys(&["Tab", "Enter"])?;
    person.sees("the proof and what to change", |screen| {
        screen.contains("what to change") && screen.contains("its connections")
    })?;
    person.keys(&["1"])?;
    person.sees("that it was copied", |screen| screen.contains("to the clipboard"))?;
    person.has_copied("tcp_window_scaling=1")?;
    person.keys(&["Enter"])?;
    person.sees("the arithmetic", |screen| {
        screen.contains("65535 B") && screen.contains("rwnd_scale") && screen.contains("confidence")
    })?;
    person.keys(&["Escape", "Escape"])?;
    person.sees("the table again", is_overview)
}

/// The lab gives each path addresses of its own.
fn look_around(person: &mut Person, peer: IpAddr) -> Result<()> {
    let IpAddr::V4(v4) = peer else {
        bail!("{peer} is not IPv4");
    };
    let [a, b, c, _] = v4.octets();
    let (address, prefix) = (peer.to_string(), format!("{a}.{b}.{c}.0/24"));
    person.type_text(":pee")?;
    person.keys(&["Tab", "Enter"])?;
    person.sees("peers", |screen| {
        screen.contains("not moved") && screen.contains(&prefix)
    })?;
    person.keys(&["Right"])?;
    person.sees("an address of the prefix", |screen| screen.contains(&address))?;
    person.keys(&["Enter"])?;
    person.sees("the group's connections", |screen| screen.contains("peers ›"))?;
    person.keys(&["Escape", "7"])?;
    person.sees("the host", |screen| screen.contains("what held all connections"))?;
    person.keys(&["1", "/"])?;
    person.type_text("limit=rwnd_scale")?;
    person.keys(&["Enter"])?;
    person.sees("one connection of several", |screen| {
        screen.contains("filter: limit=rwnd_scale") && screen.contains("1/1 of")
    })?;
    person.keys(&["Escape", "?"])?;
    person.sees("the help", |screen| screen.contains("Everywhere"))?;
    person.keys(&["Escape"])?;
    person.sees("the table again", is_overview)
}

fn is_overview(screen: &str) -> bool {
    screen.contains("1 connections") && screen.contains("rtt/min ms") && screen.contains("rwnd_scale")
}

fn pull_and_push(person: &mut Person) -> Result<()> {
    person.resize(40, 8)?;
    person.sees("that it is too small", |screen| {
        screen.contains("Too small: 40×8")
    })?;
    person.resize(120, 36)?;
    person.sees("the table again", is_overview)?;
    person.keys(&["C-z"])?;
    person.sees("the shell", |screen| screen.contains(PROMPT))?;
    person.line("fg")?;
    person.sees("the table again", is_overview)
}

/// Line editing and echo are the shell's again.
fn leave(person: &mut Person) -> Result<()> {
    person.keys(&["q"])?;
    person.sees("the shell", |screen| {
        screen.contains(PROMPT) && !screen.contains("rtt/min ms")
    })?;
    person.line("clear; stty -a")?;
    person.sees("a terminal as it was", |screen| {
        screen.contains(" icanon") && screen.contains(" echo ")
    })
}

fn lose_the_terminal(mut person: Person, top: &str) -> Result<()> {
    person.line(top)?;
    person.sees("the table", is_overview)?;
    let processes = person.children()?;
    ensure!(!processes.is_empty(), "top has no process");
    person.stands_up()?;
    is_gone(&processes)
}
