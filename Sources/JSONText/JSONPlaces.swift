/// Places inside a JSON value, numbered in the order given: members by name, members of members, elements of lists.
///
/// A place includes everything inside it: a place inside another is never reached. Where an object is expected, each element
/// of a list counts, and where a list is expected, an object counts as an element: senders change shapes.
package struct JSONPlaces: Sendable {
    package enum Step: Sendable, Hashable {
        case member(String)
        /// Every element of a list.
        case elements
    }

    struct Node: Sendable {
        var members: [(name: [UInt8], node: Int)] = []
        var elements: Int?
        /// The place's number.
        var place: Int?
    }

    /// A tree; the first node is the value itself.
    private(set) var nodes = [Node()]

    package init(_ paths: [[Step]]) {
        for (number, path) in paths.enumerated() {
            var node = 0
            for step in path { node = child(of: node, at: step) }
            if nodes[node].place == nil { nodes[node].place = number }
        }
    }

    private mutating func child(of node: Int, at step: Step) -> Int {
        switch step {
        case .member(let name):
            let bytes = Array(name.utf8)
            if let known = nodes[node].members.first(where: { $0.name == bytes }) { return known.node }
            nodes[node].members.append((bytes, nodes.count))
        case .elements:
            if let known = nodes[node].elements { return known }
            nodes[node].elements = nodes.count
        }
        nodes.append(Node())
        return nodes.count - 1
    }

    /// The node of each element of a list; nil when no place is below it.
    func elements(of node: Int) -> Int? { nodes[node].elements ?? (nodes[node].members.isEmpty ? nil : node) }

    /// The node of a member's name, given without its quotes; nil when no place is below it.
    func member(of node: Int, _ name: UnsafeBufferPointer<UInt8>.SubSequence) -> Int? {
        let members = nodes[node].members
        guard name.contains(UInt8(ascii: "\\")) else { return members.first { name.elementsEqual($0.name) }?.node }
        let decoded = JSONEscapes.decode(Array(name)[...])
        return members.first { decoded.utf8.elementsEqual($0.name) }?.node
    }
}
