internal import EntitySchema
internal import LocalAPI

/// The metric labels of addresses without a route. Variable parts are named, so the number of labels is bounded.
///
/// The label of a route is its template; an address that only resembles one gets a label by the words of all templates.
struct RouteLabels: Sendable {
    /// The label of every unknown address.
    static let other = "other"

    private let entities: Set<String>
    /// Words that templates have in the place of an id, and of a relation.
    private let second: Set<Substring>
    private let third: Set<Substring>

    init(_ templates: [PathTemplate], entities: [String]) {
        self.entities = Set(entities)
        var words = [Set<Substring>](repeating: [], count: 4)
        for template in templates {
            for (place, word) in template.text.dropFirst().split(separator: "/").enumerated()
            where place < words.count && !word.hasPrefix("{") {
                words[place].insert(word)
            }
        }
        (second, third) = (words[2], words[3])
    }

    /// `segments` of a path, decoded.
    func label(of segments: [String]) -> String {
        guard segments.first == "v1", (2...4).contains(segments.count) else { return Self.other }
        // The API's own names, which no entity can have.
        let isOwn = EntitySchema.reservedEntityNames.contains(segments[1])
        guard isOwn || entities.contains(segments[1]) else { return Self.other }
        var label = "/v1/" + (isOwn ? segments[1] : "{entity}")
        if segments.count > 2 { label += "/" + (isOwn && second.contains(segments[2][...]) ? segments[2] : "{id}") }
        if segments.count > 3 { label += "/" + (third.contains(segments[3][...]) ? segments[3] : "{relation}") }
        return label
    }
}
