//! A headless Chromium for tests, spoken to over a pipe in its own protocol: nothing to install beside it.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Once;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Names under which Chromium is installed.
const NAMES: &[&str] = &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
/// An answer takes milliseconds; a loaded machine may need longer to start the browser.
const PATIENCE: Duration = Duration::from_secs(60);

/// A browser with one tab.
pub struct Browser {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    sent: u64,
    session: Option<String>,
    /// Errors of scripts, what the security policy refused, and addresses that were asked for.
    pub complaints: Vec<String>,
    _profile: tempfile::TempDir,
}

/// The program, from `TENFOLD_TEST_CHROMIUM` or the search path.
fn program() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("TENFOLD_TEST_CHROMIUM") {
        return Some(given.into());
    }
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let mut places = NAMES.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.find(|path| path.is_file())
}

impl Browser {
    /// Starts the browser; nothing, with a line that says so, where none is installed.
    pub fn start() -> Option<Self> {
        let Some(program) = program().filter(|_| cfg!(unix)) else {
            // Straight to the terminal: the test harness keeps what a passing test prints to itself.
            let told = "skipped: no Chromium found; install it (Debian: apt-get install chromium) or set \
                        TENFOLD_TEST_CHROMIUM to its path\n";
            static TOLD: Once = Once::new();
            TOLD.call_once(|| drop(std::io::stderr().write_all(told.as_bytes())));
            return None;
        };
        let profile = tempfile::tempdir().expect("a folder for the browser's profile");
        // The browser reads commands from descriptor 3 and answers on 4; the shell moves our pipes there.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null", "sh"])
            .arg(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
            ])
            .args(["--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the browser starts");
        let input = child.stdin.take().expect("a pipe to the browser");
        let output = child.stdout.take().expect("a pipe from the browser");
        let (tell, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(output).split(0).map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("the browser speaks JSON");
                if tell.send(message).is_err() {
                    return;
                }
            }
        });
        let complaints = Vec::new();
        let mut browser =
            Self { child, input, messages, sent: 0, session: None, complaints, _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attached =
            browser.call("Target.attachToTarget", json!({ "targetId": target["targetId"], "flatten": true }));
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        // A page begins as for a new reader.
        let forget = json!({ "source": "try { localStorage.clear() } catch {}" });
        browser.call("Page.addScriptToEvaluateOnNewDocument", forget);
        Some(browser)
    }

    /// Sends a command and waits for its answer; events on the way are looked through for complaints.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.sent += 1;
        let mut message = json!({ "id": self.sent, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.input.write_all(format!("{message}\0").as_bytes()).expect("the browser listens");
        let deadline = Instant::now() + PATIENCE;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let answer = self.messages.recv_timeout(left).unwrap_or_else(|e| panic!("{method}: {e}"));
            if answer["id"] == self.sent {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.hear(&answer);
        }
    }

    fn hear(&mut self, event: &Value) {
        let inside = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(inside["exceptionDetails"].to_string());
            }
            Some("Log.entryAdded") => self.complaints.push(inside["entry"]["text"].to_string()),
            Some("Network.requestWillBeSent") => {
                let address = inside["request"]["url"].as_str().unwrap_or_default();
                if !address.starts_with("file:") && !address.starts_with("data:") {
                    self.complaints.push(format!("asked for {address}"));
                }
            }
            _ => {}
        }
    }

    /// Opens a file at this width, with the system's colours light or dark, and waits until it is drawn.
    pub fn open(&mut self, path: &Path, width: u32, dark: bool) {
        let phone = width < 600;
        self.call(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": if phone { 844 } else { 900 }, "deviceScaleFactor": 1, "mobile": phone }),
        );
        let scheme = if dark { "dark" } else { "light" };
        // Without motion: a page that is still scrolling would slip away under the pointer.
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
        self.call("Page.navigate", json!({ "url": format!("file://{}", path.display()) }));
        self.until("document.readyState === 'complete'");
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// The text of an element.
    pub fn text(&mut self, selector: &str) -> String {
        let found = self.value(&format!("document.querySelector({}).textContent", json!(selector)));
        found.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.value(expression) != json!(true) {
            assert!(Instant::now() < deadline, "waited in vain for {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Moves the pointer to the middle of an element.
    pub fn hover(&mut self, selector: &str) {
        self.pointer(selector, &["mouseMoved"]);
    }

    /// Moves the pointer to the middle of an element and presses, as a person would.
    pub fn click(&mut self, selector: &str) {
        self.pointer(selector, &["mouseMoved", "mousePressed", "mouseReleased"]);
    }

    fn pointer(&mut self, selector: &str, does: &[&str]) {
        let place = self.value(&format!(
            "(() => {{ const e = document.querySelector({}); e.scrollIntoView({{ block: 'center', behavior: 'instant' }}); \
             const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }})()",
            json!(selector)
        ));
        for kind in does {
            let parameters =
                json!({ "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", parameters);
        }
    }

    /// Types text where the focus is.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Presses a key, named as JavaScript names it.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            other => panic!("no code for {other}"),
        };
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let parameters = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text,
            });
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    /// A picture of the whole page, in `folder` when there is one.
    pub fn picture(&mut self, folder: Option<&Path>, name: &str) {
        let Some(folder) = folder else { return };
        self.value("document.fonts.ready.then(() => window.scrollTo({ top: 0, behavior: 'instant' }))");
        let parameters = json!({ "format": "png", "captureBeyondViewport": true });
        let answer = self.call("Page.captureScreenshot", parameters);
        let bytes = decode(answer["data"].as_str().unwrap_or_default());
        std::fs::write(folder.join(name), bytes).expect("the picture is written");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn decode(base64: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    for group in base64.trim_end_matches('=').as_bytes().chunks(4) {
        let bits =
            group.iter().enumerate().fold(0u32, |bits, (i, &c)| bits | u32::from(digit(c)) << (18 - 6 * i));
        out.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    out
}
