internal import EntitySchema
internal import Upstream

/// Distinguishes an outage from broken entities by asking for the list of another one.
extension HealthMonitor {
    /// Asks for a page of an entity other than the given one; the outcome is recorded like that of any request.
    /// `mayAskItself`: if there is no other, for one of its own list.
    func askElsewhere(than entity: String, mayAskItself: Bool = false, by upstream: GuardedUpstream) async throws {
        let own = mayAskItself ? requestOfAnother(than: []) : nil
        guard let request = requestOfAnother(than: [entity]) ?? own else { return }
        _ = try await upstream.page(request)
    }

    /// Whether the list of an entity that has not failed is served: then only the others are broken, and there is no
    /// outage.
    func servesAnother() async throws -> Bool {
        guard breaker.offline == nil, let request = requestOfAnother(than: breaker.failing) else { return false }
        do throws(UpstreamError) {
            _ = try await trialUpstream.page(request)
        } catch {
            // Any other answer than a failure shows as much.
            if case .cancelled = error { throw error }
        }
        return !breaker.isDown
    }

    /// Whether a list is served, or refused, by an upstream whose probes fail.
    func servesList() async throws(UpstreamError) -> Bool {
        guard let request = requestOfAnother(than: []) else { return false }
        do throws(UpstreamError) {
            _ = try await probeUpstream.page(request)
        } catch {
            switch error {
            case .cancelled: throw error
            case .offline, .unclear, .held, .malformed: return false
            case .locked, .throttled, .unauthorized, .barred, .changed, .gone, .refused, .another: return true
            }
        }
        return true
    }

    private func requestOfAnother(than entities: Set<String>) -> PageRequest? {
        let others = environment.schema.entities.filter { $0.pull != nil && !entities.contains($0.name) }
        guard !others.isEmpty else { return nil }
        let other = others[min(Int(environment.random() * Double(others.count)), others.count - 1)]
        return other.pull?.request(of: other.name)
    }
}
