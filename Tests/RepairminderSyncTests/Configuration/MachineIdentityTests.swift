import Testing

@testable import repairminder_sync

@Suite struct MachineIdentityTests {
    @Test("a daemon has the same place at each start, and others have other places")
    func places() {
        let machine = MachineIdentity(id: "0123456789abcdef0123456789abcdef", hostName: "till-1")
        let place = machine.place(ofDaemonIn: "/var/lib/repairminder-sync")
        #expect(machine.place(ofDaemonIn: "/var/lib/repairminder-sync") == place)
        #expect(machine.place(ofDaemonIn: "/var/lib/repairminder-sync/north") != place)
        var copy = machine
        copy.hostName = "till-2"
        #expect(copy.place(ofDaemonIn: "/var/lib/repairminder-sync") != place)
    }

    @Test("the places of a fleet are spread evenly")
    func even() {
        let places = (1...1000).map {
            MachineIdentity(id: "", hostName: "till-\($0)").place(ofDaemonIn: "/var/lib/repairminder-sync")
        }
        #expect(places.allSatisfy { (0..<1).contains($0) })
        let tenths = Dictionary(grouping: places) { Int($0 * 10) }.mapValues(\.count)
        #expect(tenths.count == 10 && tenths.values.allSatisfy { (60...140).contains($0) })
    }
}
