"""Graphs: the order that follows from times, strongly connected components, shortest cycles."""
from collections import deque

STARTS = 200  # of the search for the shortest cycle of a large component


def frontier_edges(operations):
    """Yields (one, other) where one ended before the other started, without those that follow from others."""
    moments = [(operation.start, 1, index) for index, operation in enumerate(operations)]
    moments += [(operation.end, 2, index) for index, operation in enumerate(operations)]
    # At the same moment a start comes first: the two then overlap.
    frontier = {}
    for _, what, index in sorted(moments):
        operation = operations[index]
        if what == 1:
            for other in frontier.values():
                yield other, operation
        else:
            for number in [number for number, other in frontier.items() if other.end < operation.start]:
                del frontier[number]
            frontier[index] = operation


def components(edges):
    """The strongly connected components with more than one node (Tarjan, without recursion)."""
    index, low, on_stack, stack, found = {}, {}, set(), [], []
    for root in list(edges):
        if root in index:
            continue
        work = [(root, iter(edges.get(root, ())))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, following = work[-1]
            for other in following:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(edges.get(other, ()))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    component = set()
                    while True:
                        other = stack.pop()
                        on_stack.discard(other)
                        component.add(other)
                        if other is node:
                            break
                    if len(component) > 1:
                        found.append(component)
    return found


def cycles(edges):
    """The shortest cycle of each component."""
    for component in components(edges):
        best = None
        for start in sorted(component, key=lambda node: node.start)[:STARTS]:
            cycle = _shortest_from(edges, component, start)
            if cycle and (best is None or len(cycle) < len(best)):
                best = cycle
            if best and len(best) == 2:
                break
        if best:
            yield best


def _shortest_from(edges, component, start):
    """The shortest way from a node back to itself, as a list of nodes."""
    before, queue = {start: None}, deque([start])
    while queue:
        node = queue.popleft()
        for other in edges.get(node, ()):
            if other is start:
                way = []
                while node is not None:
                    way.append(node)
                    node = before[node]
                return way[::-1]
            if other in component and other not in before:
                before[other] = node
                queue.append(other)
    return None
