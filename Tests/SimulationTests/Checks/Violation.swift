/// A broken rule.
struct Violation: Error, Sendable, CustomStringConvertible {
    enum Rule: String, Sendable, CaseIterable {
        case neverLost = "1: an acknowledged write is never lost"
        case onlyOnce = "2: a write reaches the upstream once"
        case notOverwritten = "3: a queued local change is never overwritten; every other field follows the server"
        case othersGoOn = "4: one bad record, change or entity never stops the others"
        case equalInTheEnd = "5: after one sync without faults, cache and upstream are equal"
        case inOrder = "changes of one record are sent in the order written"
        case boundedRetries = "no change is tried more often than the settings allow"
        case silentWhilePaused = "nothing is sent while paused"
        case cursorBehindData = "the cursor never passes data that was not applied"
        case heldWhileQueued = "a record with queued changes stays in the cache, also outside of its window"
        case noFalseDeletion = "no record leaves the cache while the upstream has it"
        case promptSignals = "a change that a signal names is here within seconds"
        case sameDecision = "the same conflict is decided the same way wherever it is met"
        case lastWriteWins = "the last write wins, by the server's clock"
        case consistent =
            "columns, overlays, derived fields, counters, search and reminders agree with records and queue"
        case cheapOutage = "an outage costs few requests, and the queue is sent at once after it"
        case noSelfConflict = "without other writers nothing conflicts"
        case failsNothing = "nothing fails for good on an upstream that refuses nothing"
        case noStepBack = "a value that was acknowledged never steps back for readers"
        case withinLimits = "no time has more requests than the upstream takes"
        case changesFirst = "no change waits for more than one pull that takes its turn"
        case endsCleanly = "a cancelled engine ends"
        case sameLog = "two runs of a seed are the same"
    }

    var rule: Rule
    var detail: String

    var description: String { "\(rule.rawValue): \(detail)" }
}
