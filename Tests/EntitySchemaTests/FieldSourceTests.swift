import EntitySchema
import Testing

@Suite("Where a record has a field")
struct FieldSourceTests {
    private func error(_ field: String) -> SchemaError? {
        refusal(
            of: """
                schema: small
                upstream: { base_url: http://localhost }
                entities:
                  notes:
                    fields: { id: { type: string }, \(field) }
                    pull: { path: /notes }
                """)
    }

    @Test(
        "A place inside the member that has the field's own name is refused, as that member hides it",
        arguments: ["caller.value", "caller.0.id", #"'"caller".value'"#])
    func below(_ place: String) {
        let error = error("caller: { type: string, from: \(place) }")
        #expect(error?.key == "entities.notes.fields.caller.from")
        #expect(error?.problem.contains("such as caller_value, which a change sends with $fields") == true)
    }

    @Test("A place that is the field's own name is refused, as it says nothing")
    func same() {
        let error = error("caller: { type: string, from: caller }")
        #expect(error?.problem == "caller is read under its own name anyway; remove from")
    }

    @Test("Several places are refused, since a field has one")
    func several() {
        let error = error("caller: { type: string, from: [caller_id.value, contact.name] }")
        #expect(error?.key == "entities.notes.fields.caller.from")
        #expect(error?.problem == "expected one place; a field has no alternatives")
    }

    @Test("A place inside another member is accepted, also if its name begins with the field's")
    func others() {
        #expect(error("caller: { type: string, from: caller_id.value }")?.description == nil)
        #expect(error("caller: { type: string, from: contact.caller }")?.description == nil)
    }

    @Test("A place of more names than answers have levels is refused, since what is around each of them is kept")
    func deep() {
        let place = Array(repeating: "a", count: 20).joined(separator: ".")
        #expect(error("caller: { type: string, from: \(place) }")?.description == nil)
        let deeper = error("caller: { type: string, from: \(place).a }")
        #expect(deeper?.key == "entities.notes.fields.caller.from")
        #expect(deeper?.problem.hasSuffix("expected at most 20 names, and 2000 bytes") == true)
    }
}
