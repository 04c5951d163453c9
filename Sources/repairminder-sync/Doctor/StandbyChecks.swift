import Standby
import Upstream

/// Checks that the cluster that decides which daemon may push answers.
struct StandbyChecks {
    let configuration: Configuration

    func findings() async -> [Finding] {
        let standby = configuration.standby
        guard !standby.members.isEmpty else {
            return standby.isSync
                ? [.warning("standby", "standby.sync has no effect without standby.etcd", "set standby.etcd as well")]
                : []
        }
        let holder: String?
        do {
            let settings = standby.settings(name: "doctor")
            let gateway = try EtcdGateway(settings, user: standby.etcdUser(), transport: standby.transport())
            holder = try await gateway.holder(of: settings)
        } catch let error as TokenFileError {
            return [.error("standby", error.message, "correct that file, or standby.password_file")]
        } catch {
            let reason = (error as? StandbyError)?.message ?? "\(error)"
            return [
                .error("standby", "etcd: \(reason)", "start a majority of its members, and check the keys of standby")
            ]
        }
        return [.ok("standby", holder.map { "\($0) holds the lease" } ?? "no daemon holds the lease")]
    }
}
