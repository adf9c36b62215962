//! The agent's own page in a real browser: live, at every width, in the dark, with the keys alone, and after the agent has
//! been away.

mod chromium;
mod tab;

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::lab::agent::Agent;
use crate::lab::clock::{Timer, now_ns, seconds_ns};
use crate::lab::run::lay_out;
use crate::lab::scenario::Scenario;
use crate::lab::traffic::Traffic;
use crate::paths;
use crate::suites::Context;
use crate::suites::report::{Outcome, Recorder};

use chromium::Chromium;
use tab::Tab;

/// The flow that is looked for: a peer without window scaling, far away.
const SCENARIO: &str = "rwnd_scale_181ms";
/// Its limit, which nothing else on the machine has.
const LIMIT: &str = "rwnd_scale";
/// How long the agent may take to say so; generous, since machines are shared.
const LIMIT_S: f64 = 60.0;
/// Ticks after which the flow is steady.
const STEADY: usize = 25;
/// Messages by which the page shows what the agent has told: it may be at one when the agent has the next.
const MESSAGES: usize = 2;

/// What it looks for on the page.
const NOTES: &str = include_str!("page/notes.js");

/// Runs it.
pub fn run(context: &Context, recorder: &mut Recorder) -> Result<()> {
    let Some(program) = paths::program("chromium") else {
        return recorder.skip("the page in a browser", "chromium is not installed");
    };
    let mut agent = Agent::start_apart(&context.programs.tcpwin, "auto", &[])?;
    let mut tab = Tab::open(Chromium::start(&program)?)?;
    tab.looks(1600, 1000, false)?;
    tab.bring(NOTES)?;
    tab.go(agent.url())?;
    tab.sees("the first ticks", "noted.ticks.length > 1")?;

    let scenario = Scenario::named(SCENARIO)?;
    let (net, _beside) = lay_out(&scenario)?;
    let _flow = Traffic::start(&net, &scenario)?;
    shows_the_flow(&agent, &mut tab, recorder)?;
    explains_it(&mut tab, recorder)?;
    takes_names_as_text(&mut tab, recorder)?;
    has_no_complaint(&mut tab, recorder)?;
    points_at_a_fault(&mut tab, recorder)?;
    fits(&mut tab, recorder)?;
    survives(&mut agent, &mut tab, recorder)?;
    shows_what_it_may(&agent, &mut tab, recorder)
}

/// The row is there within two messages of the agent's verdict.
fn shows_the_flow(agent: &Agent, tab: &mut Tab, recorder: &mut Recorder) -> Result<()> {
    let told = first_told(agent)?;
    tab.sees("the flow's row", "noted.shown !== null")?;
    let noted = tab.value("noted")?;
    let shown = noted["shown"].as_f64().context("no tick")?;
    let ticks = noted["ticks"].as_array().context("no ticks")?;
    let between = ticks
        .iter()
        .filter_map(Value::as_f64)
        .filter(|at| *at >= told && *at <= shown)
        .count();
    let outcome = if between <= MESSAGES {
        Outcome::Passed
    } else {
        Outcome::Failed
    };
    let detail = format!("shown with message {between} from the agent's first {LIMIT} on");
    recorder.check("shows the window-bound flow", outcome, detail)
}

/// The tick at which the agent first says what holds the flow. It is asked far more often than it ticks.
fn first_told(agent: &Agent) -> Result<f64> {
    let timer = Timer::every(seconds_ns(0.1))?;
    let limit_ns = now_ns() + seconds_ns(LIMIT_S);
    while now_ns() < limit_ns {
        let answer = agent.get(&format!("/api/v1/connections?filter=limit%3D{LIMIT}&count=1"))?;
        let answer: Value = serde_json::from_str(&answer)?;
        if answer["matched"] != 0 {
            return answer["at_ns"].as_f64().context("no at_ns");
        }
        timer.wait();
    }
    bail!("the agent does not say {LIMIT} of any connection")
}

/// With the keys alone: the row's link, the proof, the picture, what to change, and back.
fn explains_it(tab: &mut Tab, recorder: &mut Recorder) -> Result<()> {
    let row = "[...document.querySelectorAll('#table-body tr')].find((row) => row.textContent.includes('rwnd_scale'))";
    tab.value(&format!("{row}.querySelector('a').focus()"))?;
    tab.press("Enter", Some("\r"))?;
    tab.sees(
        "the proof, the picture and what to change",
        "document.getElementById('proof').textContent.includes('65535') \
         && document.querySelector('.bars .binds') && document.querySelector('#detail .remedies code') \
         && document.activeElement.id === 'detail-title'",
    )?;
    tab.value("document.getElementById('close').focus()")?;
    tab.press("Enter", Some("\r"))?;
    tab.sees(
        "the table, where it came from",
        "document.getElementById('detail').hidden && document.activeElement.closest('#table-body')",
    )?;
    recorder.pass("explains it, with the keys alone", "")
}

/// A program may be called anything: the page's own code is given such a name, and makes nothing but text of it.
fn takes_names_as_text(tab: &mut Tab, recorder: &mut Recorder) -> Result<()> {
    let shown = tab.value(
        "import('/page/findings.js').then(({ findings }) => { \
             findings([{ kind: 'shared_limit', bound: 'window', limit: 'rwnd', netns: 1, process: '<img src=x>', \
                 connections: 9, ids: [], rate_bps: 1, proof: '<b>', remedies: [] }]); \
             const list = document.getElementById('findings-list'); \
             return [list.querySelectorAll('img, b').length, list.textContent.includes('of <img src=x>')]; \
         })",
    )?;
    ensure!(shown[0] == 0 && shown[1] == true, "{shown}");
    recorder.pass("takes names as text", "")
}

fn points_at_a_fault(tab: &mut Tab, recorder: &mut Recorder) -> Result<()> {
    tab.value("document.getElementById('filter').focus()")?;
    tab.type_text("limit = rwnd_scal")?;
    tab.sees(
        "the caret under the fault",
        "document.getElementById('filter-fault').textContent.startsWith('limit = rwnd_scal\\n        ^')",
    )?;
    tab.type_text("e")?;
    tab.sees(
        "the one row that passes",
        "document.getElementById('filter-fault').hidden && document.querySelectorAll('#table-body tr').length === 1",
    )?;
    // The browser tells of every answer that is none; this one was asked for.
    let refused = |complaint: &String| !complaint.contains("400 (Bad Request)");
    let others: Vec<String> = tab.complaints().into_iter().filter(refused).collect();
    ensure!(others.is_empty(), "{}", others.join("; "));
    recorder.pass("points at a filter's fault", "")
}

/// Nothing is cut off at the side, on a wide screen and on a telephone's, and in the dark it is dark.
fn fits(tab: &mut Tab, recorder: &mut Recorder) -> Result<()> {
    tab.value("document.querySelector('#table-body a').click()")?;
    tab.sees("the picture", "document.querySelector('.bars .binds')")?;
    if pictures().is_some() {
        // Slow start shows figures that nobody would ask about.
        tab.sees("a steady flow", &format!("noted.ticks.length > {STEADY}"))?;
    }
    let mut grounds = Vec::new();
    for (width, height, dark, picture) in [
        (1600, 1300, false, Some("page.png")),
        (1600, 1300, true, None),
        (400, 1600, false, None),
        (400, 1600, true, Some("page-dark-400.png")),
    ] {
        tab.looks(width, height, dark)?;
        let beyond = tab.value(
            "[document.documentElement.scrollWidth - document.documentElement.clientWidth, \
              [...document.querySelectorAll('body *:not(.hidden, .hidden *)')] \
                .filter((each) => each.getBoundingClientRect().right > innerWidth + 1).map((each) => each.outerHTML.slice(0, 90))]",
        )?;
        ensure!(
            beyond[0] == 0 && beyond[1] == Value::Array(Vec::new()),
            "{width} pixels: {beyond}"
        );
        grounds.push(tab.value("getComputedStyle(document.body).backgroundColor")?);
        if let (Some(picture), Some(dir)) = (picture, pictures()) {
            tab.value("scrollTo(0, 0)")?;
            tab.photograph(&Path::new(&dir).join(picture))?;
        }
    }
    ensure!(
        grounds[0] == grounds[2] && grounds[1] == grounds[3] && grounds[0] != grounds[1],
        "{grounds:?}"
    );
    tab.looks(1600, 1000, false)?;
    recorder.pass("fits 400 and 1600 pixels, light and dark", "")
}

/// Where pictures for the documentation are wanted.
fn pictures() -> Option<std::ffi::OsString> {
    std::env::var_os("TCPWIN_PICTURES")
}

/// The agent goes and comes back at the same place: the page says so, and is live again by itself.
fn survives(agent: &mut Agent, tab: &mut Tab, recorder: &mut Recorder) -> Result<()> {
    agent.restart(|| {
        tab.sees("that the agent is gone", "document.body.dataset.live === 'gone'")?;
        // All that is asked meanwhile fails, and the browser says so.
        tab.value("noted.ticks.length = 0")
    })?;
    tab.sees(
        "ticks and the flow again",
        "document.body.dataset.live === 'yes' && noted.ticks.length > 1 \
         && document.getElementById('table-body').textContent.includes('rwnd_scale')",
    )?;
    let refused = |complaint: &String| {
        ![
            "ERR_CONNECTION",
            "ERR_INCOMPLETE",
            "ERR_EMPTY_RESPONSE",
            "503 (Service",
            "404 (Not Found)",
        ]
        .iter()
        .any(|known| complaint.contains(known))
    };
    let others: Vec<String> = tab.complaints().into_iter().filter(refused).collect();
    ensure!(others.is_empty(), "{}", others.join("; "));
    recorder.pass("survives the agent's restart", "")
}

/// Under a name that is not this host's, the agent shows no single connection; the page says so and shows the counts.
fn shows_what_it_may(agent: &Agent, tab: &mut Tab, recorder: &mut Recorder) -> Result<()> {
    let port = agent.address().rsplit_once(':').context("no port")?.1;
    tab.go(&format!("http://name.localhost:{port}/"))?;
    tab.sees(
        "why it is refused, and the counts",
        "document.getElementById('refused').textContent.includes('not under another name') \
         && document.getElementById('connections').hidden \
         && document.getElementById('headline').textContent.includes('connections')",
    )?;
    recorder.pass("says what it is refused and shows the rest", "")
}

fn has_no_complaint(tab: &mut Tab, recorder: &mut Recorder) -> Result<()> {
    let complaints = tab.complaints();
    if complaints.is_empty() {
        return recorder.pass("the console has no error", "");
    }
    recorder.fail("the console has no error", complaints.join("; "))
}
