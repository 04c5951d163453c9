/// Why a call to etcd failed, sorted by what the caller can conclude.
package enum StandbyError: Error, Sendable, Equatable {
    /// No member answered: whether the call was carried out is not known.
    case unanswered(String)
    /// etcd carried out nothing.
    case refused(String)
    /// This daemon does not hold the lease, so nothing was carried out.
    case notHolder
    case cancelled

    package var message: String {
        switch self {
        case .unanswered(let text), .refused(let text): text
        case .notHolder: "this daemon does not hold the lease"
        case .cancelled: "cancelled"
        }
    }
}
