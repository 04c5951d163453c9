internal import SocketServer

/// What all documents of the page have: the head, which loads its files, and the rules for the browser.
struct PageFrame {
    /// For people.
    let title: HTML
    let headline: HTML
    /// The class of the badge beside the title; nil without a badge.
    var tone: HTML?
    /// Attributes of the body, for the modules.
    var attributes: HTML = ""
    let content: HTML
    let footer: HTML

    /// The page loads only our own files, sends no form, cannot be framed, and cannot turn text into markup. A foreign page
    /// that opened its window loses hold of it: it could send the window to another address, or to a form that it has filled in.
    private static let policy = [
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "connect-src 'self'",
        "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ].joined(separator: "; ")

    private static let protection = [
        (name: "Content-Security-Policy", value: policy), ("X-Content-Type-Options", "nosniff"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Referrer-Policy", "no-referrer"),
        ("Cache-Control", "no-store"),
    ]

    func response(_ status: Int = 200, _ headers: [(name: String, value: String)] = []) -> Response {
        Response(
            status: status, headers: [("Content-Type", "text/html; charset=utf-8")] + headers + Self.protection,
            body: Array(document.source.utf8))
    }

    private var document: HTML {
        let badge: HTML = tone.map { "<p class=\"badge \($0)\">\(headline)</p>" } ?? ""
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(headline) – \(title)</title>
            \(PageFile.all.map(\.element))</head>
            <body\(attributes)>
            <a class="skip" href="#main">Skip to the content</a>
            <header class="top"><a class="brand" href="#/">\(title)</a>\(badge)</header>
            <main id="main" tabindex="-1">
            <h1>\(headline)</h1>
            \(content)
            </main>
            <footer>
            \(footer)
            </footer>
            </body>
            </html>

            """
    }
}
