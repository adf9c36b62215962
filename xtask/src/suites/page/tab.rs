//! One page in the browser: opened, looked at, resized, photographed.

use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use super::chromium::Chromium;

/// What the page shall become is looked for as often as it changes, for this long: generous, since machines are shared.
const PATIENCE_MS: u32 = 60_000;

/// A page.
pub struct Tab {
    browser: Chromium,
    session: String,
    /// What the console said of errors.
    complaints: Vec<String>,
}

impl Tab {
    /// An empty one.
    pub fn open(mut browser: Chromium) -> Result<Self> {
        let target = browser.call(None, "Target.createTarget", json!({ "url": "about:blank" }))?;
        let attached = browser.call(
            None,
            "Target.attachToTarget",
            json!({ "targetId": target["targetId"], "flatten": true }),
        )?;
        let session = attached["sessionId"].as_str().context("no session")?.to_owned();
        let mut tab = Self {
            browser,
            session,
            complaints: Vec::new(),
        };
        for domain in ["Runtime", "Log", "Page"] {
            tab.call(&format!("{domain}.enable"), json!({}))?;
        }
        Ok(tab)
    }

    /// Sets the window and the colours that its user prefers.
    pub fn looks(&mut self, width: u32, height: u32, dark: bool) -> Result<()> {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size)?;
        let scheme = if dark { "dark" } else { "light" };
        let prefers = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", prefers).map(drop)
    }

    /// Runs a script before those of every page that is opened from now on.
    pub fn bring(&mut self, script: &str) -> Result<()> {
        self.call(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({ "source": script }),
        )
        .map(drop)
    }

    /// Goes to an address.
    pub fn go(&mut self, url: &str) -> Result<()> {
        let went = self.call("Page.navigate", json!({ "url": url }))?;
        ensure!(went.get("errorText").is_none(), "{url}: {}", went["errorText"]);
        Ok(())
    }

    /// The value of an expression; a promise is waited for.
    pub fn value(&mut self, expression: &str) -> Result<Value> {
        let answer = self.call(
            "Runtime.evaluate",
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true }),
        )?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            bail!("{expression}: {thrown}");
        }
        Ok(answer["result"]["value"].clone())
    }

    /// Waits until the expression holds, looking whenever the document changes.
    pub fn sees(&mut self, what: &str, expression: &str) -> Result<()> {
        let waits = format!(
            "new Promise((done) => {{
                const holds = () => {{ try {{ return Boolean({expression}); }} catch {{ return false; }} }};
                if (holds()) return done(true);
                const watch = new MutationObserver(() => holds() && end(true));
                const limit = setTimeout(() => end(false), {PATIENCE_MS});
                const end = (seen) => {{ watch.disconnect(); clearTimeout(limit); done(seen); }};
                watch.observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
            }})"
        );
        if self.value(&waits)? == true {
            return Ok(());
        }
        let text = self.value("document.body.innerText")?;
        bail!(
            "{what} does not come; this is there:\n{}",
            text.as_str().unwrap_or_default()
        )
    }

    /// Presses a key where the focus is.
    pub fn press(&mut self, key: &str, text: Option<&str>) -> Result<()> {
        let mut down = json!({ "type": "keyDown", "key": key, "code": key });
        if let Some(text) = text {
            down["text"] = text.into();
        }
        self.call("Input.dispatchKeyEvent", down)?;
        self.call(
            "Input.dispatchKeyEvent",
            json!({ "type": "keyUp", "key": key, "code": key }),
        )
        .map(drop)
    }

    /// Types a text where the focus is.
    pub fn type_text(&mut self, text: &str) -> Result<()> {
        self.call("Input.insertText", json!({ "text": text })).map(drop)
    }

    /// What is on the screen, as PNG.
    pub fn picture(&mut self) -> Result<Vec<u8>> {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }))?;
        decoded(shot["data"].as_str().context("no picture")?)
    }

    /// The same in a file.
    pub fn photograph(&mut self, path: &Path) -> Result<()> {
        let picture = self.picture()?;
        std::fs::write(path, picture).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Errors since the last call: exceptions, what the page complained of, what could not be loaded or was forbidden.
    pub fn complaints(&mut self) -> Vec<String> {
        let events: Vec<Value> = self.browser.take_events().collect();
        self.complaints.extend(events.iter().filter_map(complaint));
        std::mem::take(&mut self.complaints)
    }

    fn call(&mut self, method: &str, params: Value) -> Result<Value> {
        self.browser.call(Some(&self.session), method, params)
    }
}

fn complaint(event: &Value) -> Option<String> {
    let params = &event["params"];
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(params["exceptionDetails"].to_string()),
        "Runtime.consoleAPICalled" if matches!(params["type"].as_str()?, "error" | "warning" | "assert") => {
            Some(params["args"].to_string())
        }
        "Log.entryAdded" if params["entry"]["level"] == "error" => Some(params["entry"].to_string()),
        _ => None,
    }
}

/// Base64 (RFC 4648 section 4), as DevTools sends pictures.
fn decoded(text: &str) -> Result<Vec<u8>> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0);
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = LETTERS
            .iter()
            .position(|known| *known == letter)
            .context("a picture that is no base64")?;
        bits = bits << 6 | u32::try_from(value)?;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn base64_with_every_padding() {
        assert_eq!(decoded("Zm9vYmE=").unwrap(), b"fooba");
        assert_eq!(decoded("Zm9vYg==").unwrap(), b"foob");
        assert_eq!(decoded("Zm9vYmFy").unwrap(), b"foobar");
        assert!(decoded("Zm9v!mFy").is_err());
    }
}
