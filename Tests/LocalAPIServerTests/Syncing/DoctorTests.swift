import JSONText
import Testing

@Suite("Findings over the API")
struct DoctorTests {
    @Test("the findings are answered as the daemon's checks return them, which know the status")
    func findings() async throws {
        let api = try TestAPI(doctor: { status in
            [.object(["check": "daemon", "level": "ok", "message": status["state"] ?? .null, "advice": .null])]
        })
        let answer = await api.call("GET", "/v1/_doctor")
        #expect(answer.status == 200)
        #expect(answer.text == #"{"data":[{"check":"daemon","level":"ok","message":"idle","advice":null}]}"#)
    }

    @Test("it takes no parameters and no other method, and is for known callers")
    func shape() async throws {
        let api = try TestAPI()
        #expect(await api.call("GET", "/v1/_doctor?deep=true").status == 400)
        #expect(await api.call("POST", "/v1/_doctor", body: "{}").status == 405)
        #expect(await api.call("GET", "/v1/_doctor", headers: ["Authorization": nil]).status == 401)
    }
}
