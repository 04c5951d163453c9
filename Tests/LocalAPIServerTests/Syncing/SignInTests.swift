import JSONText
import Testing

@Suite("Signing in over the API")
struct SignInTests {
    @Test("without a sign-in for people there is no way, and nothing to begin")
    func none() async throws {
        let api = try TestAPI()
        #expect(await api.call("GET", "/v1/_sign-in").json.text == #"{"needed":false,"ways":[]}"#)
        #expect(await api.call("POST", "/v1/_sign-in", body: #"{"way":"password"}"#).status == 404)
        #expect(await api.call("GET", "/v1/status").json.at(path: "upstream.needs_sign_in")?.boolean == false)
    }
}
