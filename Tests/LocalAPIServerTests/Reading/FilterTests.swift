import CacheStore
import EntitySchema
import JSONText
import SQLiteStore
import TestSupport
import Testing

@Suite("Filters over the API")
struct FilterTests {
    /// Four orders and two clients.
    private static func api() async throws -> TestAPI {
        let api = try TestAPI(
            yaml: """
                schema: shop
                upstream:
                  base_url: http://localhost
                  pagination: { style: page }
                entities:
                  orders:
                    fields:
                      id: { type: string }
                      status: { type: enum, index: true, values: { open: Open, ready: Ready } }
                      total: { type: money }
                      notes: { type: string }
                      in: { type: string }
                      tags: { type: list }
                      address: { type: object }
                      client_id: { type: reference, to: clients, index: true }
                    pull: { path: /orders }
                  clients:
                    fields:
                      id: { type: string }
                      email: { type: string, index: true }
                      name: { type: string, search: true }
                      or: { type: string }
                    many:
                      orders: { of: orders, by: client_id }
                    pull: { path: /clients }
                """)
        let orders = #"""
            [{"id":"a","status":"ready","total":150,"notes":"one, two","in":"x","tags":["new"],"address":{"city":"London"},"client_id":"c1"},
             {"id":"b","status":"open","total":50,"notes":"(one)","in":"y","tags":[],"client_id":"c2"},
             {"id":"c","status":"ready","total":20,"notes":"\"one\"","tags":["new","old"],"client_id":"c1"},
             {"id":"d","status":null,"total":200,"notes":null}]
            """#
        _ = try await api.store.apply(PulledPage(entity: "orders", records: orders), at: TestAPI.now)
        let clients = #"[{"id":"c1","email":"ada@example.org","name":"Ada Smith","or":"1"},{"id":"c2","name":"Bob"}]"#
        _ = try await api.store.apply(PulledPage(entity: "clients", records: clients), at: TestAPI.now)
        return api
    }

    private func keys(_ query: String, _ api: TestAPI, of entity: String = "orders") async -> String {
        let answer = await api.call("GET", "/v1/\(entity)?sort=id&\(query)")
        guard answer.status == 200 else { return answer.text }
        return (answer.json["data"]?.elements ?? []).map { $0["id"]?.string ?? "" }.joined(separator: " ")
    }

    @Test(
        "each form of a filter is understood",
        arguments: [
            ("status.eq=ready", "a c"), ("status.in=ready,open", "a b c"), ("status.in=(ready)", "a c"),
            ("status.nin=open", "a c"), ("status.not.in=open", "a c"), ("status.not.eq=ready", "b"),
            ("notes.eq=one,%20two", "a"), ("notes.not.eq=one,%20two", "b c"), ("notes=one,%20two", ""),
            ("notes.in=%22one,%20two%22,x", "a"), ("notes.in=(%22(one)%22,%22%5C%22one%5C%22%22)", "b c"),
            ("notes.starts=ONE", "a"), ("notes.contains=one", "a b c"), ("notes.not.contains=two", "b c"),
            ("tags.has=new", "a c"), ("tags.has=new&tags.has=old", "c"), ("tags.not.has=new", "b"),
            ("address.city=London,Leeds", "a"), ("address.city.not.null=true", "a"), ("address.city.starts=l", "a"),
            ("client.email=ada@example.org", "a c"), ("client.name.starts=bo", "b"), ("client.email.null=true", "b"),
            ("or=(total.gte.200,notes.contains.two)", "a d"), ("and=(status.eq.ready,total.lt.100)", "c"),
            ("not.or=(total.gte.100,status.eq.open)", "c"), ("not.and=(status.eq.ready,total.lt.100)", "a b d"),
            ("or=(and(status.eq.ready,total.gt.100),%20not.or(status.eq.ready,status.null.true))", "a b"),
            ("or=(notes.eq.%22one,%20two%22,notes.eq.%22(one)%22)", "a b"),
            ("or=(status.in.(open,ready),id.eq.d)", "a b c d"),
            ("or=(client.email.starts.ada,address.city.eq.x)", "a c"),
            ("or=(status.not.eq.ready,status.null.true)", "b d"),
            ("or=(total.eq.20.0)", "c"), ("in=x", "a"), ("in.in=x,y", "a b"), ("or=(in.eq.x)", "a"),
            (#"or=(%22in%22.eq.y)"#, "b"), ("status=ready&or=(total.eq.20,total.eq.50)", "c"),
        ])
    func understood(_ query: String, _ expected: String) async throws {
        #expect(await keys(query, try Self.api()) == expected, "\(query)")
    }

    @Test("a field that has the name of a word for conditions is still a field")
    func fieldNamedOr() async throws {
        let api = try await Self.api()
        #expect(await keys("or=1", api, of: "clients") == "c1")
        #expect(await keys("and=(or.eq.1,name.starts.ada)", api, of: "clients") == "c1")
    }

    @Test(
        "what cannot be meant is refused, and the message says what to write",
        arguments: [
            ("status.ne=open,ready", "status.ne", "use status.nin"), ("total.gte=1,2", "total.gte", "takes one value"),
            ("status=redy", "status", "did you mean ready?"), ("status=READY", "status", "did you mean ready?"),
            ("status.nin=redy", "status", "did you mean ready?"),
            ("or=(status.eq.redy)", "or", "did you mean ready?"),
            ("status.like=r", "status.like", "did you mean contains?"),
            ("total.between=1", "total.between", "did you mean gte?"), ("total.on=1", "total.on", "Use one of eq, ne"),
            ("status.start=r", "status.start", "did you mean starts?"),
            ("limt=5", "limt", "did you mean limit?"), ("page=2", "page", "Besides filters, lists take limit, cursor"),
            ("notes.city=x", "notes.city", "there is no comparison city"),
            ("status.not=ready", "status.not", "as in status.not.eq"),
            ("status.eq.not=ready", "status.eq.not", "as in status.not.eq"),
            ("status.eq.x=ready", "status.eq.x", "there is no comparison x"),
            ("status!=open", "status!", "write status.ne=…"), ("total%3E=5", "total>", "write total.gte=…"),
            ("total%3C5", "total<5", "write total.lt=…"), ("notes~=x", "notes~", "write notes.contains=…"),
            ("total.ge=5", "total.ge", "did you mean gte?"), ("total.le=5", "total.le", "did you mean lte?"),
            ("status=", "status", "has no empty value"), ("total.gte=", "total", "got nothing"),
            ("sort=Total", "sort", "did you mean total?"), ("fields=notse", "fields", "did you mean notes?"),
            ("client.emai=x", "client.emai", "did you mean email?"),
            ("client=c1", "client", "write client_id=…"),
            ("clint.email=x", "clint.email", "did you mean client?"),
            ("tags=new", "tags", "tags.has"), ("address=x", "address", "name a place"),
            ("total.contains=1", "total", "not text"),
            ("or=status.eq.ready", "or", "expected (, at status.eq.ready"),
            ("or=(status.eq.ready", "or", "expected ), at the end"),
            ("or=(status.eq.ready)x", "or", "expected the end, at x"), ("or=()", "or", "expected a field"),
            ("or=(status)", "or", "expected a dot"), ("or=(status.ready)", "or", "expected a dot"),
            ("or=(status.in.ready)", "or", "expected ("), ("or=(notes.eq.f(x))", "or", "double quotes"),
            ("or=(notes.eq.%22x)", "or", "no other at its end"), ("not.status=ready", "not.status", "no field not"),
            ("or=((((((status.eq.ready))))))", "or", "expected a field"),
            ("or=(or(or(or(or(or(id.eq.a))))))", "or", "more than 5"),
        ])
    func refused(_ query: String, _ field: String, _ message: String) async throws {
        let answer = await (try Self.api()).call("GET", "/v1/orders?\(query)")
        #expect(answer.status == 400)
        let error = answer.json["errors"]?.elements.first
        #expect(error?["field"]?.string == field, "\(answer.text)")
        #expect(error?["message"]?.string?.contains(message) == true, "\(answer.text)")
    }

    @Test("more comparisons or values than a list takes are refused")
    func bounds() async throws {
        let api = try await Self.api()
        let terms = Array(repeating: "total.gte.1", count: 51).joined(separator: ",")
        for query in ["or=(\(terms))", Array(repeating: "total=1", count: 51).joined(separator: "&")] {
            let answer = await api.call("GET", "/v1/orders?\(query)")
            #expect(answer.status == 400 && answer.text.contains("at most 50 comparisons"), "\(answer.text)")
        }
        let many = await api.call("GET", "/v1/orders?id.in=\((0...1000).map { "k\($0)" }.joined(separator: ","))")
        #expect(many.status == 400 && many.text.contains("at most 1000 values"), "\(many.text)")
        let deep = await api.call("GET", "/v1/orders?or=" + String(repeating: "(or", count: 2000))
        #expect(deep.status == 400)
    }

    @Test("all mistakes of a request are reported at once")
    func mistakes() async throws {
        let answer = await (try Self.api()).call("GET", "/v1/orders?status=redy&or=(nope.eq.1)&client.nope=1&sort=nope")
        #expect(
            answer.json["errors"]?.elements.map { $0["field"]?.string } == ["status", "or", "client.nope", "sort"],
            "\(answer.text)")
    }

    @Test("all mistakes in parentheses are reported at once, each with its field, under the name of the parameter")
    func mistakesInParentheses() async throws {
        let query = "or=(status.eq.redy,not.and(total.gte.much,id.null.perhaps),client.emai.eq.x,total.gte.1)"
        let answer = await (try Self.api()).call("GET", "/v1/orders?\(query)")
        let errors = answer.json["errors"]?.elements ?? []
        #expect(errors.map { $0["pointer"]?.string } == ["or", "or", "or", "or"], "\(answer.text)")
        let messages = errors.map { $0["message"]?.string ?? "" }
        for (message, field) in zip(
            messages, ["status has no", "total: expected", "id: expected", "did you mean email"])
        {
            #expect(message.contains(field), "\(message)")
        }
    }

    @Test("a list that reads a whole table says so, and what an index finds does not")
    func timing() async throws {
        let api = try await Self.api()
        for (query, missing) in [
            ("notes.starts=one", "notes"), ("tags.has=new", "tags"), ("address.city=London", "address"),
            ("client.or=1", "client.or"), ("or=(status.eq.open,notes.eq.x)", "notes"),
            ("client.name.contains=mit", "client.name"), ("id.contains=a", "id"),
            ("status=ready&client.or=1", "client.or"),
        ] {
            let header = await api.call("GET", "/v1/orders?\(query)").header("Server-Timing")
            #expect(header?.hasPrefix("scan;desc=\"no index on \(missing)\"") == true, "\(query): \(header ?? "none")")
        }
        for query in [
            "client.email=x", "id.starts=a", "client.name.starts=ad", "or=(status.eq.open,client.email.in.(x,y))",
            "status=ready&notes.contains=x", "status.in=open,ready",
        ] {
            #expect(await api.call("GET", "/v1/orders?\(query)").header("Server-Timing") == nil, "\(query)")
        }
    }

    @Test("lists of related records take the same filters")
    func related() async throws {
        let api = try await Self.api()
        let answer = await api.call("GET", "/v1/clients/c1/orders?and=(id.starts.a,client.email.null.false)")
        #expect(answer.json["data"]?.elements.map { $0["id"]?.string } == ["a"], "\(answer.text)")
    }
}
