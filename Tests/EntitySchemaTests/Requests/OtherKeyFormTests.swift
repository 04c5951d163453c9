import EntitySchema
import Testing

@Suite("Other forms of a key")
struct OtherKeyFormTests {
    @Test("a UUID is known in capitals and in small letters")
    func uuids() {
        let (small, capital) = ("0b9c2f1e-58aa-4c3d-9f10-2b7d1c0a9e55", "0B9C2F1E-58AA-4C3D-9F10-2B7D1C0A9E55")
        #expect(KeyForms.others(of: small) == [capital])
        #expect(KeyForms.others(of: capital) == [small])
    }

    @Test("an id of Salesforce is known with 15 and with 18 characters")
    func suffixes() {
        #expect(KeyForms.others(of: "a0D30000001n7Pi") == ["a0D30000001n7PiEAI"])
        #expect(KeyForms.others(of: "a0D30000001n7PiEAI") == ["a0D30000001n7Pi"])
        #expect(KeyForms.others(of: "a0D30000001n7PiEAA").isEmpty)
    }

    @Test(
        "any other key has one form",
        arguments: [
            "", "5", "Slug-1", "0b9c2f1e-58aa-4c3d-9f10-2b7d1c0a9e5x", "0b9c2f1e058aa-4c3d-9f10-2b7d1c0a9e55",
            "é0123456789abc",
        ])
    func others(_ key: String) {
        #expect(KeyForms.others(of: key).isEmpty)
    }
}
