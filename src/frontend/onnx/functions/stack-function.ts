import { formatType, type TensorTypeNode } from '../../../compiler/ir/type.ts';
import { formatDim } from '../../../core/dims/dim.ts';
import type { ImportContext } from '../import-context.ts';

/**
 * The name of a function that concatenates the tensors of a list along an axis, or gives
 * its second operand where there are none: `(List[T], T) -> T`, where that
 * dimension of T is unknown. It goes over the list in rounds of
 * four, so that n tensors are moved log n times, and not n.
 */
export function stackFunction(context: ImportContext, element: TensorTypeNode, axis = 0): string {
  const along = axis === 0 ? '' : `.${axis}`;
  const shape = element.shape.map(formatDim).join('x').replaceAll('?', 'n');
  const name = `stack.${element.dtype}.${shape}${along}`;
  if (!context.functions.has(name)) context.addProgram(program(name, formatType(element), axis));
  return name;
}

function program(name: string, type: string, axis: number): string {
  return `
    def @"${name}"(%list: List[${type}], %empty: ${type}) -> ${type} {
      match (%list) {
        Nil => %empty,
        Cons(%only, Nil) => %only,
        _ => @"${name}"(@"${name}.round"(%list, Nil), %empty),
      }
    }

    def @"${name}.round"(%list: List[${type}], %done: List[${type}]) -> List[${type}] {
      match (%list) {
        Nil => @reverse(%done),
        Cons(%a, Nil) => @reverse(Cons(%a, %done)),
        Cons(%a, Cons(%b, Nil)) => @reverse(Cons(concat(%a, %b, axis=${axis}), %done)),
        Cons(%a, Cons(%b, Cons(%c, Nil))) => @reverse(Cons(concat(%a, %b, %c, axis=${axis}), %done)),
        Cons(%a, Cons(%b, Cons(%c, Cons(%d, %rest)))) =>
          @"${name}.round"(%rest, Cons(concat(%a, %b, %c, %d, axis=${axis}), %done)),
      }
    }
  `;
}
