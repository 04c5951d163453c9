internal import Logging
internal import Upstream

/// What this machine's network tells about whether the upstream can be reached.
extension SyncEngine {
    /// To be called when links, addresses or routes have changed: finds out at once what that means.
    ///
    /// While offline the upstream is probed, the waits between probes beginning anew; while online a probe that does not
    /// reach it is enough to be offline, before any request has to wait for its deadline.
    package func networkChanged() async {
        guard !isPaused else { return }
        if health.offline != nil {
            log.debug("the network has changed; probing")
            health.beginProbingAnew()
            await probe()
            await pullRest.call()
        } else if health.hold(at: now()) == nil {
            do throws(UpstreamError) {
                try await upstream.probe()
            } catch .offline(let message) {
                try? note(.offline(message))
            } catch {
                // It answers, be it with an error: that is for the requests to find out.
            }
        }
    }
}
