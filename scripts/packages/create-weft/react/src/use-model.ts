import { useEffect, useState } from 'react';

interface Model {
  dispose(): Promise<void>;
}

interface ModelState<M> {
  model?: M;
  error?: Error;
}

/** A model for as long as its component is there. `load` has to be the same function in each rendering. */
export function useModel<M extends Model>(
  load: (signal: AbortSignal) => Promise<M>,
): ModelState<M> {
  const [state, setState] = useState<ModelState<M>>({});
  useEffect(() => {
    const gone = new AbortController();
    const show = (next: ModelState<M>) => gone.signal.aborted || setState(next);
    const loading = load(gone.signal);
    loading.then(
      (model) => show({ model }),
      (error) => show({ error }),
    );
    return () => {
      gone.abort();
      loading.then(
        (model) => model.dispose(),
        () => undefined,
      );
    };
  }, [load]);
  return state;
}
