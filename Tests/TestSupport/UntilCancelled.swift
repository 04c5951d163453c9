/// Waits until the calling task is cancelled.
package func untilCancelled() async {
    let (never, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    withExtendedLifetime(continuation) {}
}
