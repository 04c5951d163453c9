/// How far a daemon's window reaches, which may be another one at each of its starts.
enum WindowShape: CaseIterable {
    /// As all daemons have it in the end.
    case base
    case narrow, wide

    /// Seconds.
    var span: Int {
        switch self {
        case .base: 300
        case .narrow: 100
        case .wide: 1200
        }
    }

    var stages: [String] { self == .wide ? ["open", "done"] : ["open"] }
}
