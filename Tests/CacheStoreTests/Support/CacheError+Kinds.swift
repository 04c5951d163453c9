import SQLiteStore

/// What an error of one kind says; nil for an error of another.
extension CacheError {
    var problems: [FieldProblem]? { if case .invalid(let problems) = self { problems } else { nil } }
    var incompatibility: String? { if case .incompatible(let reason) = self { reason } else { nil } }
    var damage: String? { if case .damaged(let reason) = self { reason } else { nil } }
    var writeFailure: String? { if case .unwritable(let reason) = self { reason } else { nil } }
}
