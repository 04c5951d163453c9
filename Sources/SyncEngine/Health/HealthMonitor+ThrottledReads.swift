internal import EntitySchema
internal import Logging

/// Lists that the upstream limits separately.
extension HealthMonitor {
    /// Notes that the upstream asks to wait with reading a list. Returns whether all else goes on.
    func holdsOnly(_ entity: String, for delay: Duration, _ message: String) -> Bool {
        let time = environment.monotonicNow()
        let end = time + environment.schedule.holdWait(asked: delay)
        guard let times = throttledReads.wait(entity, until: end, message) else { return false }
        if times == 1 {
            environment.log.warning(
                "the upstream asks to wait with one list; all else goes on",
                metadata: ["entity": "\(entity)", "for": "\(delay)", "error": "\(message)"])
        }
        return true
    }

    /// Why the list of the entity must not be read yet; nil if it may be.
    func reasonNotToRead(_ entity: String) -> String? {
        throttledReads.reason(entity, at: environment.monotonicNow())
    }
}
