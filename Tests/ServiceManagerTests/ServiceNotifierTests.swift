import ServiceManager
import TestSupport
import Testing

@Suite("Notifying the service manager")
struct ServiceNotifierTests {
    @Test("messages of one call arrive in one datagram, at a path or an abstract name", arguments: [false, true])
    func sends(isAbstract: Bool) throws {
        let socket = try NotifySocket(abstract: isAbstract)
        let notifier = ServiceNotifier(environment: ["NOTIFY_SOCKET": socket.name])
        #expect(notifier.send(.ready, .status("idle")))
        #expect(notifier.send(.watchdog))
        #expect(socket.next() == "READY=1\nSTATUS=idle")
        #expect(socket.next() == "WATCHDOG=1")
        #expect(socket.next() == nil)
    }

    @Test(
        "each message has the format of sd_notify(3)",
        arguments: [
            (.ready, "READY=1"), (.stopping, "STOPPING=1"), (.watchdog, "WATCHDOG=1"),
            (.reloading(since: .seconds(3) + .microseconds(25)), "RELOADING=1\nMONOTONIC_USEC=3000025"),
            (.extendTimeout(.seconds(60)), "EXTEND_TIMEOUT_USEC=60000000"),
            (.status("one\nREADY=1\r\n"), "STATUS=one READY=1 "),
            (.status("a\u{1b}]0;b\u{7}\u{9b}2J\u{202e}\0\tc"), "STATUS=a�]0;b��2J���c"),
        ] as [(ServiceMessage, String)])
    func texts(message: ServiceMessage, text: String) throws {
        let socket = try NotifySocket()
        ServiceNotifier(environment: ["NOTIFY_SOCKET": socket.name]).send(message)
        #expect(socket.next() == text)
    }

    @Test("without a service manager nothing is sent, which is not a failure", arguments: [nil, "", "vsock:2:1"])
    func noServiceManager(name: String?) {
        let environment = name.map { ["NOTIFY_SOCKET": $0] } ?? [:]
        #expect(ServiceNotifier(environment: environment).send(.ready))
    }

    @Test("a socket without a listener or with an invalid name is a failure")
    func gone() throws {
        let name = try NotifySocket().name
        #expect(!ServiceNotifier(environment: ["NOTIFY_SOCKET": name]).send(.ready))
        let long = "/" + String(repeating: "a", count: 107)
        #expect(!ServiceNotifier(environment: ["NOTIFY_SOCKET": long]).send(.ready))
    }
}
