/// Who calls, as far as whoever runs the server could tell when the connection opened; it holds for all its requests.
package struct Caller: Sendable, Equatable {
    package enum Standing: Sendable {
        /// Runs this machine or the server itself: may take every place there is.
        case owner
        /// Known, and let in like the owner; one such user may take a part of the places.
        case member
        /// Not known; all strangers together may take a part of the places.
        case stranger
    }

    /// Nil when the system does not tell.
    package var user: UInt32?
    package var standing: Standing

    package init(user: UInt32?, standing: Standing) {
        self.user = user
        self.standing = standing
    }

    package static let unknown = Caller(user: nil, standing: .stranger)

    /// Tells who has connected with an accepted socket; asked once a connection, and must not block for long.
    package typealias Lookup = @Sendable (_ descriptor: Int32, _ peer: Peer) -> Caller
}
