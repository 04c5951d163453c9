internal import SocketServer

/// The page at `/` for unknown callers: it asks for the token and shows nothing else.
enum SessionPage {
    /// The status and header fields are the problem's.
    static func response(to problem: Problem) -> Response {
        PageFrame(
            title: "repairminder-sync", headline: "Sign in", attributes: " data-signed-out",
            content: "<noscript><p>Without scripts this page is only for users whom the daemon knows.</p></noscript>",
            footer: "<p>repairminder-sync</p>"
        ).response(problem.status, problem.headers)
    }
}
