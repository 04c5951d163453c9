import Testing

@testable import SchemaDraft

@Suite("Words of names")
struct WordsTests {
    @Test(
        "A plural has its singular",
        arguments: [
            ("orders", "order"), ("companies", "company"), ("statuses", "status"), ("addresses", "address"),
            ("boxes", "box"), ("warehouses", "warehouse"), ("causes", "cause"), ("movies", "movie"), ("sizes", "size"),
            ("aliases", "alias"), ("purchases", "purchase"), ("people", "person"),
        ])
    func plural(_ word: String, _ singular: String) { #expect(Words.singular(word) == singular) }

    @Test("A singular stays as it is", arguments: ["status", "address", "analysis", "news", "series", "data", "bus"])
    func singular(_ word: String) { #expect(Words.singular(word) == word) }

    @Test(
        "A singular has its plural, and a plural stays",
        arguments: [
            ("pet", "pets"), ("company", "companies"), ("day", "days"), ("box", "boxes"), ("status", "statuses"),
            ("branch", "branches"), ("person", "people"), ("orders", "orders"), ("series", "series"),
        ])
    func plurals(_ word: String, _ plural: String) { #expect(Words.plural(word) == plural) }
}
