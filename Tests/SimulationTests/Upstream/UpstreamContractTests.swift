import EntitySchema
import JSONText
import Testing
import Upstream

/// The contract that the engine relies on; the simulation proves nothing unless its upstream keeps to it.
@Suite("The upstream contract, simulated and over HTTP", .serialized)
struct UpstreamContractTests {
    @Test("pages list every record once, give the total, and end", arguments: ContractFixture.allCases)
    func pages(_ fixture: ContractFixture) async throws {
        try await fixture.run { subject in
            let plan = try #require(subject.schema["customers"]?.pull)
            var request = PageRequest(path: plan.path, list: plan.list)
            var sizes: [Int] = []
            var keys: [String] = []
            repeat {
                let page = try await subject.upstream.page(request)
                #expect(page.total == 3)
                sizes.append(page.count)
                keys += page.records.elements.compactMap { $0["id"]?.string }
                request.position = page.next
            } while request.position != nil
            #expect(sizes == [2, 1])
            #expect(keys.sorted() == ["c1", "c2", "c3"])
        }
    }

    @Test("a list filtered by change time has the records changed then or later", arguments: ContractFixture.allCases)
    func since(_ fixture: ContractFixture) async throws {
        try await fixture.run { subject in
            let plan = try #require(subject.schema["customers"]?.pull)
            let all = try await subject.upstream.page(PageRequest(path: plan.path, list: plan.list))
            let second = try #require(all.records.elements.first { $0["id"] == "c2" }?["updated_at"]?.string)
            let since = QueryItem(name: "since", value: second)
            let page = try await subject.upstream.page(PageRequest(path: plan.path, since: since, list: plan.list))
            #expect(page.records.elements.compactMap { $0["id"]?.string } == ["c2", "c3"])
        }
    }

    @Test("a record is found by its key; a missing one is nil", arguments: ContractFixture.allCases)
    func record(_ fixture: ContractFixture) async throws {
        try await fixture.run { subject in
            let customers = try #require(subject.schema["customers"])
            let found = try await subject.upstream.record(of: customers, known: .object(["id": "c2"]))
            #expect(found?.record["name"] == "name 2")
            let missing = try await subject.upstream.record(of: customers, known: .object(["id": "missing"]))
            #expect(missing == nil)
        }
    }

    @Test(
        "a change repeated under its idempotency key is applied once and answered the same",
        arguments: ContractFixture.allCases)
    func repetition(_ fixture: ContractFixture) async throws {
        try await fixture.run { subject in
            let request = try #require(Self.creation(subject))
            subject.failNext(.losesAnswer)
            await #expect(throws: UpstreamError.self) {
                try await subject.upstream.push(request, idempotencyKey: "k-1")
            }
            let first = try await subject.upstream.push(request, idempotencyKey: "k-1")
            let again = try await subject.upstream.push(request, idempotencyKey: "k-1")
            #expect(subject.count() == 4)
            #expect(first.record?.record["name"] == "new")
            #expect(first == again)
        }
    }

    @Test("an edit answers the whole record; a deleted record is gone", arguments: ContractFixture.allCases)
    func edits(_ fixture: ContractFixture) async throws {
        try await fixture.run { subject in
            let customers = try #require(subject.schema["customers"])
            func request(_ operation: Operation) throws -> PushRequest {
                try #require(
                    customers.request(for: operation, record: .object(["id": "c1"]), body: .object(["phone": "new"])))
            }
            let edited = try await subject.upstream.push(try request(.update), idempotencyKey: "k-1")
            #expect(edited.record?.record["phone"] == "new")
            #expect(edited.record?.record["name"] == "name 1")
            _ = try await subject.upstream.push(try request(.delete), idempotencyKey: "k-2")
            let deleted = try await subject.upstream.record(of: customers, known: .object(["id": "c1"]))
            #expect(deleted == nil)
            let late = try request(.update)
            do {
                _ = try await subject.upstream.push(late, idempotencyKey: "k-3")
                Issue.record("an edit of a deleted record was accepted")
            } catch UpstreamError.gone {}
        }
    }

    @Test("failures are classified by how to handle them", arguments: ContractFixture.allCases)
    func failures(_ fixture: ContractFixture) async throws {
        try await fixture.run { subject in
            func failure(_ failure: ContractFixture.Failure) async throws -> UpstreamError? {
                let request = try #require(Self.creation(subject))
                subject.failNext(failure)
                do throws(UpstreamError) {
                    _ = try await subject.upstream.push(request, idempotencyKey: "k-\(failure)")
                } catch {
                    return error
                }
                return nil
            }
            func wrong(_ what: String) { Issue.record("\(what) was classified wrongly") }
            guard case .unclear(500, _) = try await failure(.fails) else { return wrong("500") }
            guard case .unclear(nil, _) = try await failure(.losesAnswer) else { return wrong("a lost answer") }
            guard case .throttled(.seconds(20), _) = try await failure(.throttles) else { return wrong("429") }
            guard case .unauthorized = try await failure(.refusesToken) else { return wrong("401") }
        }
    }

    @Test("an unknown list is gone, and the probe is answered", arguments: ContractFixture.allCases)
    func other(_ fixture: ContractFixture) async throws {
        try await fixture.run { subject in
            let list = try #require(subject.schema["customers"]?.pull?.list)
            do {
                _ = try await subject.upstream.page(PageRequest(path: "/nothing", list: list))
                Issue.record("an unknown list was answered")
            } catch UpstreamError.gone {}
            try await subject.upstream.probe()
        }
    }

    private static func creation(_ subject: ContractFixture.Subject) -> PushRequest? {
        let body = JSONText.object(["id": "mine", "name": "new", "phone": "5"])
        return subject.schema["customers"]?.request(for: .create, record: body, body: body)
    }
}
