/// What a handler makes of a request.
///
/// An answer that is known at once is sent without a task being woken for it, which takes longer than reading a record.
package enum Reply: Sendable {
    case now(Response)
    /// Runs in the connection's task, which is cancelled when the caller closes the connection.
    case later(@Sendable () async -> Response)
}
