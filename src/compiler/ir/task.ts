/**
 * A recursive procedure that does not recurse: instead of calling another task it yields it, and
 * `runTask` keeps those that wait on a heap-allocated stack. So input of any depth is read and
 * printed without overflowing the stack of the engine.
 *
 * ```ts
 * function* depth(list: Nested): Task<number> {
 *   return list === null ? 0 : 1 + (yield* sub(depth(list.inner)));
 * }
 * runTask(depth(list));
 * ```
 */
export interface Task<T> extends Generator<Task<unknown>, T, unknown> {}

/** The result of another task. */
export function* sub<T>(task: Task<T>): Task<T> {
  return (yield task) as T;
}

/** Runs a task to its end. What a task throws passes through those that wait for it. */
export function runTask<T>(root: Task<T>): T {
  const stack: Task<unknown>[] = [root];
  let result: unknown;
  let failure: { readonly thrown: unknown } | undefined;
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    try {
      const step: IteratorResult<Task<unknown>, unknown> = failure === undefined
        ? top.next(result)
        : top.throw(failure.thrown);
      failure = undefined;
      if (step.done === true) {
        stack.pop();
        result = step.value;
      } else {
        stack.push(step.value);
        result = undefined;
      }
    } catch (thrown) {
      stack.pop();
      failure = { thrown };
    }
  }
  if (failure !== undefined) throw failure.thrown;
  return result as T;
}
