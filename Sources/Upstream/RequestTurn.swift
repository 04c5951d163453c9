/// When a request may be sent, compared to others that wait for the same budget, and whether a change still may then.
package struct RequestTurn: Sendable {
    package var urgency: RequestBudget.Urgency
    /// Called with the longest time until the wait is looked at again, each time that it goes on.
    package var waits: @Sendable (Duration) -> Void
    /// Called before each sending of a change, with nothing left to wait for but the network. The change is not sent if it
    /// throws.
    package var fence: (@Sendable () async throws(UpstreamError) -> Void)?

    package init(
        urgency: RequestBudget.Urgency = .urgent, waits: @escaping @Sendable (Duration) -> Void = { _ in }
    ) {
        self.urgency = urgency
        self.waits = waits
    }
}
