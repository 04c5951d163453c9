internal import Logging
internal import Upstream

/// What this machine's network tells about whether the upstream can be reached.
extension SyncEngine {
    /// How long an upstream may take to answer just after the network has changed, before it is taken for offline.
    private static let patience = Duration.milliseconds(400)

    /// To be called when links, addresses or routes have changed: finds out at once what that means. Returns before long.
    ///
    /// While the upstream is down it is probed, the waits between probes beginning anew; else a probe that does not reach
    /// it is enough to be offline, before any request has to wait for its deadline.
    package func networkChanged() async {
        upstream.networkChanged()
        guard !isPaused else { return }
        if health.isDown {
            log.debug("the network has changed; probing")
            health.hurry()
            // A run that still hangs on a dead connection must not keep the pull loop from probing.
            if run.isRunning { await look() } else { await pullSleep.call() }
        } else if health.hold(at: monotonicNow()) == nil {
            await look()
        }
    }

    /// Probes. What leads nowhere any more may just be silent: that is taken for offline after a moment, until it answers.
    private func look() async {
        let (first, event) = AsyncStream<Void>.makeStream()
        let doubting = Task {
            try await clock.sleep(for: Self.patience)
            guard !Task.isCancelled else { return }
            note(.offline("no answer since this machine's network has changed"))
            event.finish()
        }
        Task {
            do {
                try await probe()
            } catch is CancellationError {
            } catch {
                log.error("a change of the network could not be followed", metadata: ["error": "\(error)"])
            }
            doubting.cancel()
            event.finish()
        }
        for await _ in first {}
    }
}
