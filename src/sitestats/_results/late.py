"""Types that results name in annotations, and import when somebody reads these.

They are of layers above, or of libraries that extras bring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sitestats._public import late_types

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from numpy import object_
    from numpy.typing import NDArray
    from pandas import DataFrame
    from polars import DataFrame as PolarsDataFrame
    from pyarrow import Table
    from rich.console import (
        Console as Console,
        ConsoleOptions as ConsoleOptions,
        RenderResult as RenderResult,
    )

    from sitestats._comparison.comparison import Comparison as Comparison
    from sitestats._comparison.comparisons import Comparisons as Comparisons
    from sitestats._testing.sample_body import StatsValues as StatsValues

    ArrowTable: TypeAlias = Table
    AxesArray: TypeAlias = NDArray[object_]
    PandasFrame: TypeAlias = DataFrame
    PolarsFrame: TypeAlias = PolarsDataFrame
else:
    __getattr__ = late_types(
        {
            "matplotlib.axes": ("Axes",),
            "rich.console": ("Console", "ConsoleOptions", "RenderResult"),
            "sitestats._comparison.comparison": ("Comparison",),
            "sitestats._comparison.comparisons": ("Comparisons",),
            "sitestats._testing.sample_body": ("StatsValues",),
        },
        ArrowTable=("pyarrow", "Table"),
        AxesArray=("numpy", "ndarray"),
        PandasFrame=("pandas", "DataFrame"),
        PolarsFrame=("polars", "DataFrame"),
    )
