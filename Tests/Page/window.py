"""The reader's browser: what is seen, pressed and typed, and what no scene may have."""
import shutil
import time

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from front import NAME
from shop import Failed

# Name -> width and height in pixels.
SIZES = {"phone": (320, 640), "tablet": (768, 1024), "laptop": (1280, 800), "wide": (1920, 1080)}
THEMES = ("light", "dark")
# Where axe looks: each theme once, the narrowest window and a usual one.
AUDITED = {("phone", "light"), ("laptop", "dark")}
OVERFLOW = """
const width = document.documentElement.clientWidth;
return [...document.querySelectorAll("body *")]
  .filter((node) => !node.closest(".scroll, nav, .skip, .hidden-words, pre, dialog:not([open])"))
  .filter((node) => node.getBoundingClientRect().right > width + 1 && node.getClientRects().length > 0)
  .map((node) => `${node.tagName.toLowerCase()}.${node.className} ${node.textContent.slice(0, 40)}`).slice(0, 5)
"""
# A word is broken letter by letter where an element is narrower than its longest short word.
BROKEN = """
const context = document.createElement("canvas").getContext("2d");
return [...document.querySelectorAll("h1, h2, h3, p, dt, dd, th, td, label, button, a, li, strong")]
  .filter((node) => node.children.length === 0 && node.getClientRects().length > 0)
  .filter((node) => !node.closest(".scroll.records, .hidden-words"))
  .filter((node) => {
    const style = getComputedStyle(node);
    if (style.display === "inline") return false;
    context.font = style.font;
    const words = node.textContent.split(/[\\s-]+/).filter((word) => word.length <= 12);
    const room = node.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return room > 0 && words.some((word) => context.measureText(word).width > room + 1);
  })
  .map((node) => `${node.tagName.toLowerCase()} ${node.textContent.slice(0, 40)}`).slice(0, 5)
"""

# Notes what gets the focus, and whether that can be seen; returns how much a reader can use in the scene. The input for a time
# shows the focus in its parts.
WATCH_FOCUS = """
document.activeElement.blur();
scrollTo(0, 0);
const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
window.unreached = new Set(all.filter((node) => !node.disabled && node.checkVisibility()));
window.unseen = [];
document.addEventListener("focusin", ({ target }) => {
  unreached.delete(target);
  if (!target.matches("[tabindex='-1'], [type^=date]") && getComputedStyle(target).outlineStyle === "none") unseen.push(target);
});
return unreached.size;
"""
# Without what was drawn again meanwhile.
FOCUSED = """
return [[...unreached], unseen]
  .map((nodes) => nodes.filter((node) => node.isConnected).map((node) => node.outerHTML.slice(0, 150)));
"""

# As fast as rows come: each step waits until the last row that is drawn has its record.
SCROLL = """
const [length, done] = arguments;
const table = document.querySelector(".records");
const end = performance.now() + length;
let reached = 0;
function step() {
  const last = [...table.querySelectorAll("tr.record")].at(-1);
  if (last?.querySelector("a")) {
    reached = Number(last.getAttribute("aria-rowindex")) - 1;
    table.scrollTop = table.scrollHeight;
  }
  if (performance.now() > end) done(reached);
  else requestAnimationFrame(step);
}
step();
"""


class Window:
    def __init__(self, address, axe, pictures):
        self.address, self.axe, self.pictures = address, axe, pictures
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--lang=en-GB",
                     "--force-prefers-reduced-motion", "--force-color-profile=srgb",
                     f"--host-resolver-rules=MAP {NAME} 127.0.0.1"):
            options.add_argument(flag)
        # The story's proxy made its certificate itself.
        options.accept_insecure_certs = True
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        self.scenes = 0
        self.size, self.theme = None, None
        self.show("laptop")

    def close(self):
        self.driver.quit()

    # Where the reader is

    def show(self, size, theme="light"):
        if (size, theme) == (self.size, self.theme):
            return
        self.size, self.theme = size, theme
        width, height = SIZES[size]
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": theme}]})

    def open(self, place="#/"):
        # A new place behind # alone would not load the page again.
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}/{place}")
        self.see("nav a[aria-current], .view")

    def go(self, *keys):
        """Goes to a page by its keys."""
        for key in keys:
            self.driver.find_element(By.TAG_NAME, "body").send_keys(key)

    def go_on(self, *keys):
        """Sends keys to what has the focus."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def tab_to(self, selector, text):
        """Gives the focus to the first such element, with the Tab key alone."""
        self.see(selector, text)
        for _ in range(200):
            self.go_on(Keys.TAB)
            if self.run("const [selector, text] = arguments; const now = document.activeElement;"
                        "return now.matches(selector) && now.textContent.includes(text)", selector, text):
                return
        raise Failed(f"the Tab key does not reach {selector} with {text!r}")

    def speak(self, language):
        agent = self.run("return navigator.userAgent")
        self.driver.execute_cdp_cmd("Emulation.setUserAgentOverride", {"userAgent": agent, "acceptLanguage": language})

    # What the reader sees and does

    def see(self, selector, text=None, within=10):
        """The first visible element of the selector that has the text, as soon as there is one."""
        end = time.monotonic() + within
        while True:
            for node in self.driver.find_elements(By.CSS_SELECTOR, selector):
                try:
                    if node.is_displayed() and (text is None or text in node.text):
                        return node
                except StaleElementReferenceException:
                    continue
            if time.monotonic() > end:
                self.driver.save_screenshot(str(self.pictures / "failed.png"))
                raise Failed(f"the page shows no {selector}{f' with {text!r}' if text else ''}; it shows:\n"
                             f"{self.driver.find_element(By.TAG_NAME, 'body').text[:1500]}")
            time.sleep(0.05)

    def see_gone(self, selector, text, within=15):
        end = time.monotonic() + within
        while any(text in (self.text_of(node) or "") for node in self.driver.find_elements(By.CSS_SELECTOR, selector)):
            if time.monotonic() > end:
                raise Failed(f"the page still shows {selector} with {text!r}")
            time.sleep(0.05)

    @staticmethod
    def text_of(node):
        try:
            return node.text
        except (StaleElementReferenceException, NoSuchElementException):
            return None

    def press(self, selector, text=None):
        """Presses what the reader sees; once more if the page has just drawn it again."""
        for last in (False, False, True):
            try:
                node = self.see(selector, text)
                self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", node)
                return node.click()
            except (StaleElementReferenceException, WebDriverException):
                if last:
                    raise
                time.sleep(0.2)

    def type(self, selector, text, clear=True):
        node = self.see(selector)
        if clear:
            node.send_keys(Keys.CONTROL, "a")
        node.send_keys(text)
        return node

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def rows(self):
        """What the rows of the table have in their first column."""
        return self.run("return [...document.querySelectorAll('tr.record > :first-child')].map((one) => one.textContent.trim())")

    def scroll_to(self, row):
        """Scrolls the table until all rows around that one are there."""
        end = time.monotonic() + 10
        while not (drawn := self.rows()) or "…" in drawn or not self.run(
                "const [row] = arguments; document.querySelector('.records').scrollTop = 40 * row;"
                "return document.querySelector(`tr.record[aria-rowindex='${row + 10}']`) !== null", row):
            if time.monotonic() > end:
                raise Failed(f"the table does not come to row {row}; it shows {drawn}")
            time.sleep(0.05)

    def scroll_for(self, seconds):
        """Scrolls the table down, as far as it comes in the time; returns the row that was reached."""
        self.driver.set_script_timeout(seconds + 30)
        return self.driver.execute_async_script(SCROLL, 1000 * seconds)

    def first_paint(self):
        """The milliseconds until the overview shows something."""
        self.open()
        return round(self.run("return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 1e6"))

    def heap(self):
        """The megabytes that the page's scripts and elements use, after a collection of garbage."""
        self.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        return round(self.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"] / 1e6, 1)

    def with_status(self, members):
        """What the page shows for the daemon's status with other members, until it reads the next one; and what moves."""
        return self.driver.execute_async_script(
            """
            const [members, done] = arguments;
            import("/page/core/live.js").then((live) => {
              live.setStatus({...live.status(), ...members});
              done([document.getElementById("main").textContent, document.getAnimations().length]);
              live.refreshStatus();
            });
            """, members)

    # What no scene may have

    def look(self, name):
        """Looks at the scene in every size, light and dark."""
        before = (self.size, self.theme)
        self.scenes += 1
        for size in SIZES:
            for theme in THEMES:
                self.show(size, theme)
                self.check_layout(f"{name}, {size}, {theme}")
                if (size, theme) in AUDITED:
                    self.check_access(f"{name}, {size}, {theme}")
                file = f"{self.scenes:02}-{name.replace(' ', '-')}-{size}-{theme}.png"
                self.driver.save_screenshot(str(self.pictures / file))
        self.show(*before)

    def check_layout(self, scene):
        for script, what in ((OVERFLOW, "overflows"), (BROKEN, "breaks words letter by letter")):
            if found := self.run(script):
                raise Failed(f"{scene}: {what}: {found}")

    def check_access(self, scene):
        if not self.run("return 'axe' in window"):
            self.run(self.axe)
        found = self.driver.execute_async_script(
            "axe.run(document, {resultTypes: ['violations']}).then((result) => arguments[0](result.violations))")
        if found:
            raise Failed(f"{scene}: axe: " + "; ".join(
                f"{one['id']} ({one['help']}): {[node['html'][:150] for node in one['nodes'][:3]]}" for one in found))

    def check_keyboard(self, scene):
        """Fails if the Tab key leaves out something that can be used, or gives something the focus without showing it."""
        hidden = self.walk_by_tab(scene)
        # The browser may briefly fail to show the focus; if the page hides it, it is hidden every time.
        if hidden and (again := set(hidden) & set(self.walk_by_tab(scene))):
            raise Failed(f"{scene}: nothing shows that the focus is at {sorted(again)}")

    def walk_by_tab(self, scene):
        """Tabs through all controls; returns those that had the focus without showing it."""
        wanted = self.run(WATCH_FOCUS)
        # An input for a time has several parts, so there are more stops.
        for _ in range(6):
            self.go_on(Keys.TAB * (wanted // 2 + 10))
            left, hidden = self.run(FOCUSED)
            if not left:
                return hidden
        raise Failed(f"{scene}: the Tab key does not reach {left}")

    def check_console(self, expected=()):
        """Fails for everything in the console but answers with a status that the story expects."""
        for entry in self.driver.get_log("browser"):
            message = entry["message"]
            if not any(part in message for part in expected):
                raise Failed(f"the console has: {message}")
