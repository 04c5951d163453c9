import Glibc
import Testing

@testable import ServiceManager

@Suite("Inherited sockets")
struct InheritedSocketsTests {
    @Test(
        "without both variables, or when they are for another process, there are none",
        arguments: [
            [:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "7"], ["LISTEN_PID": "8", "LISTEN_FDS": "1"],
            ["LISTEN_PID": "7", "LISTEN_FDS": "0"], ["LISTEN_PID": "7", "LISTEN_FDS": "-1"],
            ["LISTEN_PID": "7", "LISTEN_FDS": "many"], ["LISTEN_PID": "7", "LISTEN_FDS": "1000000"],
        ] as [[String: String]])
    func none(_ environment: [String: String]) {
        #expect(InheritedSockets(environment: environment, pid: 7).descriptors == [])
    }
}
