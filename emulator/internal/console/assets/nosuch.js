// The page of an address that has none.

import { begin, loading } from './page.js';

begin();
loading(false);
