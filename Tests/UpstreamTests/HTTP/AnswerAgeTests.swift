import Testing

@testable import Upstream

@Suite("The age of an answer")
struct AnswerAgeTests {
    @Test(
        "an answer that a gateway has kept has an age, to the second above",
        arguments: [(nil, nil), ("0", 1), ("30", 31), ("?", 1), ("-1", 1)] as [(String?, Int64?)])
    func age(header: String?, seconds: Int64?) {
        let response = HTTPResponse(status: 200, headers: header.map { [HTTPHeader("age", $0)] } ?? [])
        #expect(response.age == seconds.map { .seconds($0) })
    }
}
