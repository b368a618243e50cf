import type { AdjointCall, AdjointRule } from './adjoint.ts';
import { GraphBuilder } from './graph-builder.ts';
import type { GraphTensor } from './graph-target.ts';
import { pullBack, RecordedGraph } from './pull-back.ts';

/** A call, to be written in other operators. */
export type ExpandedCall = Pick<AdjointCall, 'inputs' | 'output' | 'attributes' | 'graph'>;

/** The adjoint of an operator that is written out in others: theirs, from the last to the first. */
export function byExpansion(expand: (call: ExpandedCall) => GraphTensor): AdjointRule {
  return ({ inputs, output, attributes, cotangent, wants, graph, lookup }) => {
    const recorded = new RecordedGraph(graph.target);
    const expanded = expand({ inputs, output, attributes, graph: new GraphBuilder(recorded) });
    const sources = inputs.filter((_, input) => wants(input));
    const cotangents = pullBack(
      { calls: recorded.calls, cotangents: new Map([[expanded, cotangent]]), sources, lookup },
      graph,
    );
    return inputs.map((input) => cotangents[sources.indexOf(input)]);
  };
}
