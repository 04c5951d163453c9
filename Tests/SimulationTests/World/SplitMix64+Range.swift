import ReferenceUpstream

extension SplitMix64 {
    mutating func within(_ range: ClosedRange<Int>) -> Int { range.lowerBound + below(range.count) }
}
