import type { AdjointRule, ExpandedCall } from './adjoint.ts';
import { GraphBuilder } from './graph-builder.ts';
import type { GraphTensor } from './graph-target.ts';
import { pullBack, RecordedGraph } from './pull-back.ts';

/** The adjoint of an operator that is written out in others: theirs, from the last to the first. */
export function byExpansion(
  expand: (call: ExpandedCall) => GraphTensor,
  others: Pick<AdjointRule, 'halving'> = {},
): AdjointRule {
  const rule: AdjointRule = ({ inputs, output, attributes, cotangent, wants, graph, lookup }) => {
    const recorded = new RecordedGraph(graph.target);
    const expanded = expand({ inputs, output, attributes, graph: new GraphBuilder(recorded) });
    const sources = inputs.filter((_, input) => wants(input));
    const cotangents = pullBack(
      { calls: recorded.calls, cotangents: new Map([[expanded, cotangent]]), sources, lookup },
      graph,
    );
    return inputs.map((input) => cotangents[sources.indexOf(input)]);
  };
  return Object.assign(rule, others);
}
