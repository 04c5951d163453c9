/// Tells calls that only read, and may be made to see what they answer, from those that do something, though a GET should not.
struct HarmlessCalls {
    /// How many names all paths of the document begin with. They say nothing of what one of them does: `/sync/v9`.
    private let shared: Int

    init(_ operations: [APIOperation]) {
        let paths = operations.map { $0.path.segments.dropLast() }
        let first = paths.first ?? []
        shared = paths.reduce(first.count) { count, path in
            zip(first.prefix(count), path).prefix { $0 == $1 }.count
        }
    }

    /// Whether neither the title, a name of the path nor a value that it needs says that it does something:
    /// `/orders/bulk-delete`, `/delete/orders`, `/orders?action=purge`.
    func onlyReads(_ operation: APIOperation) -> Bool {
        let names = operation.path.segments.dropFirst(shared).filter { PathPattern.parameters($0).isEmpty }
        let values = operation.queries.filter(\.isRequired).compactMap { FixedParameter.value(of: $0) }
        let words = (values + names).map(Words.parts)
        return operation.verb(among: Self.doing) == nil && !words.joined().contains { Self.doing.contains($0) }
            && !CollectionFinder.signsIn(operation.path) && words.last != ["count"]
    }

    private static let doing: Set = [
        "abort", "accept", "ack", "acknowledge", "activate", "add", "apply", "approve", "archive", "ban", "block",
        "buy", "cancel", "charge", "checkout", "claim", "clear", "clone", "close", "complete", "confirm", "connect",
        "consume", "copy", "create", "cron", "deactivate", "decline", "delete", "demote", "deploy", "dequeue",
        "destroy", "disable", "disconnect", "dismiss", "download", "drop", "duplicate", "edit", "empty", "enable",
        "end", "exec", "execute", "expire", "export", "finalize", "finish", "fire", "flush", "generate", "import",
        "install", "invite", "join", "kill", "launch", "leave", "lock", "logout", "mark", "merge", "migrate", "move",
        "new", "notify", "pause", "pay", "pop", "process", "promote", "publish", "purge", "rebuild", "reboot",
        "recalculate", "redeem", "refresh", "refund", "regenerate", "register", "reindex", "reject", "remove",
        "resend", "reset", "restart", "restore", "resume", "retry", "revoke", "rollback", "rotate", "run", "seed",
        "sell", "send", "set", "shutdown", "signout", "start", "stop", "submit", "subscribe", "suspend", "swap",
        "sync", "terminate", "test", "toggle", "transfer", "trigger", "unarchive", "unblock", "undo", "uninstall",
        "unlock", "unpublish", "unsubscribe", "update", "upgrade", "verify", "void", "wipe", "withdraw",
    ]
}
