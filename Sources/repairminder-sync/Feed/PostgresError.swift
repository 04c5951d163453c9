/// Why a call of PostgreSQL failed, by what to do about it.
struct PostgresError: Error, Equatable {
    enum Kind: Equatable {
        /// The server is down, busy or has ended the transaction: the same again, later.
        case passing
        /// Another feed of this instance has moved the position: read it again.
        case overtaken
        /// A person has to change something.
        case lasting
    }

    var kind: Kind
    var message: String

    /// `state` is the SQLSTATE; nil if the connection is lost, or cannot be opened.
    init(state: String?, message: String) {
        kind = state.map(Self.kind) ?? .passing
        self.message = Self.line(message) + (state.map { " (SQLSTATE \($0))" } ?? "")
    }

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// Connection failures, rollbacks, too few resources, an operator at work, locks that were not free.
    private static func kind(_ state: String) -> Kind {
        if ["08", "40", "53", "57", "58"].contains(state.prefix(2)) { return .passing }
        // lock_not_available; and a timeout of idle transactions.
        return ["55P03", "25P03"].contains(state) ? .passing : .lasting
    }

    private static func line(_ text: String) -> String {
        text.split { $0.isNewline }.map { $0.trimmingPrefix { $0.isWhitespace } }.joined(separator: "; ")
    }
}
