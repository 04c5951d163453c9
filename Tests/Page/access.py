"""The chapters about who gets in: the daemon at the upstream, and readers at the page."""
from selenium.webdriver.common.keys import Keys

from front import Front
from shop import EMAIL, PASSWORD, Failed, await_true


def upstream(shop, page):
    """The daemon's sign-in to the upstream is gone, and made again from the page: by password, then by magic link."""
    shop.forget_sign_in()
    page.open()
    page.see(".headline h1", "Needs attention")
    page.press(".actions a", "Sign in to the upstream")
    page.type("#answer-email", EMAIL)
    page.type("#answer-password", "mistaken")
    page.look("upstream sign in")
    page.press("form button.primary", "Go on")
    page.see(".notice", "the name or the password is wrong")
    if "mistaken" in page.see("main").text:
        raise Failed("the page repeats the password")
    page.type("#answer-password", PASSWORD + Keys.ENTER)
    page.see("label", "The code that was mailed to you")
    page.type("#answer-code", shop.mailed_code + Keys.ENTER)
    page.see(".headline h1", "In sync", within=20)
    shop.forget_sign_in()
    page.open()
    page.press(".actions a", "Sign in to the upstream")
    page.press("[aria-label='Ways to sign in'] button", "Magic link")
    page.see_gone("label", "Password")
    page.type("#answer-email", EMAIL + Keys.ENTER)
    page.see("label", "The code that was mailed to you")
    code = shop.mailed_code
    page.type("#answer-code", f"{(int(code) + 1) % 10**6:06}" + Keys.ENTER)
    page.see(".notice", "the code is wrong")
    page.type("#answer-code", code + Keys.ENTER)
    page.see(".headline h1", "In sync", within=20)


def signing_in(shop, page):
    """Where the daemon does not know its reader, it asks for the token once."""
    shop.listen(tcp_without_token="never")
    page.open()
    page.see("h1", "Sign in")
    page.look("sign in")
    page.type("#token", "guessed" + Keys.ENTER)
    page.see(".notice", "not the daemon's token")
    page.type("#token", shop.token + Keys.ENTER)
    page.see(".headline h1", "In sync", within=20)
    page.press(".actions button", "Pause")
    page.see(".headline h1", "Paused")
    page.press(".actions button", "Resume")
    page.open("#/records/orders")
    page.see(".records td", "Ready")
    page.press("footer button", "Sign out")
    page.see("h1", "Sign in")
    page.open("#/queue")
    page.see("h1", "Sign in")


def remote(shop, page):
    """A reader at another address comes through a proxy with TLS, as the guide to securing has it, and changes a record."""
    shop.listen(allow_remote="true")
    front = Front(shop.daemon.tcp_address, shop.folder.name)
    local, page.address = page.address, front.address
    try:
        page.open()
        page.see("h1", "Sign in")
        page.type("#token", shop.token + Keys.ENTER)
        page.see(".headline h1", "In sync", within=20)
        cookies = [(one["secure"], one["httpOnly"], one["sameSite"]) for one in page.driver.get_cookies()]
        if cookies != [(True, True, "Strict")]:
            raise Failed(f"the session's cookie is not for TLS alone: {page.driver.get_cookies()}")
        order = shop.order()["id"]
        page.open(f"#/records/orders/{order}")
        page.go("e")
        page.type("[data-field=notes] textarea", "Changed from the road")
        page.press("button", "Save")
        await_true(lambda: shop.upstream_order()["notes"] == "Changed from the road", 15, "the change was not sent")
        shop.call("PATCH", f"/v1/orders/{order}", {"notes": "Changed in the shop"})
        page.see("[data-field=notes] .value", "Changed in the shop")
        page.press("footer button", "Sign out")
        page.see("h1", "Sign in")
        if page.driver.get_cookies():
            raise Failed("the session's cookie is still there")
    finally:
        page.address = local
        front.close()
    page.open()
    page.see("h1", "Sign in")
