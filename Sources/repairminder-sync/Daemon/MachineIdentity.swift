import Foundation
import SQLiteStore

/// What distinguishes this machine from others.
struct MachineIdentity: Sendable, Equatable {
    /// machine-id(5); empty if the machine has none.
    var id: String
    var hostName: String

    static func ofThisMachine() -> MachineIdentity {
        let id = (try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8)) ?? ""
        return MachineIdentity(
            id: id.trimmingCharacters(in: .whitespacesAndNewlines), hostName: ProcessInfo.processInfo.hostName)
    }

    /// Where a daemon stands among all of a fleet, 0..<1: the same at each start, and evenly distributed.
    ///
    /// The name is part of it because containers of one image can share their id; the directory because several daemons
    /// can run on one machine.
    func place(ofDaemonIn stateDirectory: String) -> Double {
        let hash = ContentHash.of([id, hostName, stateDirectory].joined(separator: "\n").utf8)
        return Double(hash >> 11) / Double(UInt64(1) << 53)
    }
}
