internal import Logging
internal import Upstream

/// What this machine's network tells about whether the upstream can be reached.
extension SyncEngine {
    /// To be called when links, addresses or routes have changed: finds out at once what that means.
    ///
    /// While the upstream is down it is probed, the waits between probes beginning anew; else a probe that does not reach
    /// it is enough to be offline, before any request has to wait for its deadline.
    package func networkChanged() async throws {
        guard !isPaused else { return }
        if health.isDown {
            log.debug("the network has changed; probing")
            health.hurry()
            // A run that still hangs on a dead connection must not keep the pull loop from probing.
            if run.isRunning { try await probe() } else { await pullRest.call() }
        } else if health.hold(at: steady()) == nil {
            do throws(UpstreamError) {
                try await upstream.probe()
            } catch .offline(let message) {
                note(.offline(message))
            } catch {
                // It answers, be it with an error: that is for the requests to find out.
            }
        }
    }
}
