import { serve } from '../../src/worker/index.ts';

serve();
