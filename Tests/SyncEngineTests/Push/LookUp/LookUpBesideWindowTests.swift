import EntitySchema
import JSONText
import TestSupport
import Testing

@testable import SyncEngine

@Suite("Looking up a lost creation of which the cache keeps only a window")
struct LookUpBesideWindowTests {
    /// The finding for a creation with the notes "new", sent two minutes ago, when the list shows one record with them.
    ///
    /// `isOpen`: whether that record is inside the window. `age`: how long before now it was changed; nil if it has no time.
    /// `byDay`: its time is the day alone.
    private func finding(
        isOpen: Bool, age: Duration?, byDay: Bool = false, where window: String = #", where: { open: "yes" }"#,
        path: String = ""
    ) async throws -> CreateReconciler.Finding {
        let test = try TestPull(
            "since: { param: since, field: updated_at, overlap: 10s }\(window)",
            create: "call: POST /orders, look_up: { match: [notes]\(path) }"
        ) { $0.replacing("notes: { type: string }", with: "notes: { type: string }\n      open: { type: string }") }
        let now = test.clock.timestamp
        var members: [(key: String, value: JSONText)] = [
            ("id", "a"), ("notes", "new"), ("open", isOpen ? "yes" : "no"),
        ]
        if let age {
            let time = (now - age).description
            members.append(("updated_at", .string(byDay ? String(time.prefix(10)) : time)))
        }
        try test.upstream.serve([JSONText.array([.object(members: members)]).text])
        return try await test.lookUp(try await test.lostCreation(.object(["notes": "new", "open": "yes"])))
    }

    @Test("a record that was last changed before the attempt may have been outside the window, so a person decides")
    func earlier() async throws {
        for isOpen in [true, false] {
            #expect(try await finding(isOpen: isOpen, age: .seconds(86_400)).doubt != nil, "open: \(isOpen)")
        }
    }

    @Test("a record that was changed since the attempt is the created one, also outside the window")
    func later() async throws {
        for isOpen in [true, false] {
            #expect(try await finding(isOpen: isOpen, age: .seconds(119)).key == "a", "open: \(isOpen)")
        }
    }

    @Test("a change time that is the day of the attempt says nothing: a record inside the window is the created one")
    func day() async throws {
        #expect(try await finding(isOpen: true, age: .seconds(125), byDay: true).key == "a")
        #expect(try await finding(isOpen: false, age: .seconds(125), byDay: true).doubt != nil)
    }

    @Test(
        "a look-up's own path may show what the list leaves out: a record from over a day before the attempt is left to a person"
    )
    func archived() async throws {
        func find(_ age: Duration) async throws -> CreateReconciler.Finding {
            try await finding(isOpen: true, age: age, where: "", path: #", path: "/orders?archived=1""#)
        }
        #expect(try await find(.seconds(90_000)).doubt != nil)
        #expect(try await find(.seconds(80_000)).key == "a")
    }

    @Test("without a change time, only a record inside the window is the created one")
    func timeless() async throws {
        #expect(try await finding(isOpen: true, age: nil).key == "a")
        #expect(try await finding(isOpen: false, age: nil).doubt != nil)
    }
}
